// SPDX-License-Identifier: MIT
// GGML_OP_MUL_MAT and GGML_OP_MUL_MAT_ID of quantized weights as calls of libnibblewave.
#pragma once
#include "engines/ggml/queue.h"

namespace nw::engine {

// Whether src0's type has blocks: dense.cpp has the others.
bool has_blocks(const ggml_tensor *op);

// Why the device does not compute the node; "" if it does.
std::string product_refusal(Device &, const ggml_tensor *op);

// Logs why a weight of the device is left to others: once for each type and reason.
void say_weight_refused(Device &, const ggml_tensor *op, const std::string &why);

// Whether the node has at least 32 rows, or GGML_OP_OFFLOAD_MIN_BATCH of them: copying its weights
// from the CPU then costs less than computing it there. ggml's GPU backends have the same rule.
bool is_worth_copying(const ggml_tensor *op);

// Size of the workspace for a node that is not refused.
nw_status product_workspace(Device &, const ggml_tensor *op, uint64_t *bytes);

// Queues the node. Without NW_OK, `why` has the reason.
nw_status launch_product(Queue &, const ggml_tensor *op, std::string &why);

} // namespace nw::engine

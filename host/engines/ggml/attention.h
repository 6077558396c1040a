// SPDX-License-Identifier: MIT
// GGML_OP_FLASH_ATTN_EXT as a call of libnibblewave.
#pragma once
#include "engines/ggml/queue.h"

namespace nw::engine {

// Why the device does not compute the node; "" if it does.
std::string attention_refusal(Device &, const ggml_tensor *op);

// Size of the workspace for a node that is not refused.
nw_status attention_workspace(Device &, const ggml_tensor *op, uint64_t *bytes);

// Queues the node. Without NW_OK, `why` has the reason.
nw_status launch_attention(Queue &, const ggml_tensor *op, std::string &why);

} // namespace nw::engine

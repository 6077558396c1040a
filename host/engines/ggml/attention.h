// SPDX-License-Identifier: MIT
// GGML_OP_FLASH_ATTN_EXT as a call of libnibblewave.
#pragma once
#include "engines/ggml/device.h"

namespace nw::engine {

inline bool is_attention(const ggml_tensor *op) { return op->op == GGML_OP_FLASH_ATTN_EXT; }

// Whether there are kernels, for heads of any length. Loads them.
bool has_attention(Device &);

// Whether the device computes the node. Attention that is left to others is logged once for each
// reason.
bool supports_attention(Device &, const ggml_tensor *op);

// Size of the workspace for a node that supports_attention() accepts.
nw_status attention_workspace(Device &, const ggml_tensor *op, uint64_t *bytes);

// Queues the node. Without NW_OK, `why` has the reason.
nw_status launch_attention(Device &, const ggml_tensor *op, void *workspace, uint64_t bytes,
                           void *stream, std::string &why);

} // namespace nw::engine

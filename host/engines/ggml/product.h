// SPDX-License-Identifier: MIT
// Nodes as calls of libnibblewave: GGML_OP_MUL_MAT, GGML_OP_MUL_MAT_ID; attention.h has another.
#pragma once
#include "engines/ggml/device.h"

namespace nw::engine {

// Whether the device computes the node, or the node computes nothing. A weight that is left to
// others is logged once for each reason.
bool supports(Device &, const ggml_tensor *op);

// Bytes of workspace for a node that supports() accepts.
uint64_t workspace_bytes(Device &, const ggml_tensor *op);

// Queues the node. Without NW_OK, `why` has the reason.
nw_status launch(Device &, const ggml_tensor *op, void *workspace, uint64_t bytes, void *stream,
                 std::string &why);

// Whether a graph's node has nothing to compute.
bool computes_nothing(const ggml_tensor *node);

// Whether the backend has the node's op at all. supports() says whether this node's is computed.
bool is_known(const ggml_tensor *node);

} // namespace nw::engine

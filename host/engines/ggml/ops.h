// SPDX-License-Identifier: MIT
// The ops that the device computes.
#pragma once
#include "engines/ggml/queue.h"

namespace nw::engine {

// Whether the device computes the node, or the node computes nothing. A reason for a no is logged
// once.
bool supports(Device &, const ggml_tensor *node);

// Whether a node with this op needs a workspace.
bool has_workspace(const ggml_tensor *node);

// Bytes of workspace for a node that supports() accepts.
uint64_t workspace_bytes(Device &, const ggml_tensor *node);

// Queues the node. Without NW_OK, `why` has the reason.
nw_status launch(Queue &, const ggml_tensor *node, std::string &why);

// Whether a graph's node has nothing to compute.
bool computes_nothing(const ggml_tensor *node);

// Whether the backend has the node's op at all. supports() says whether this node's is computed.
bool is_known(const ggml_tensor *node);

} // namespace nw::engine

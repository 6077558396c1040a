// SPDX-License-Identifier: MIT
// Several nodes as one launch, where ggml's own rules say that nobody reads what lies between.
#pragma once
#include <string>

#include "engines/ggml/queue.h"

namespace nw::engine {

// Queues the node, or several from it on as one launch. How many they are; 0 with the reason if it
// can't be queued.
int queue_from(Queue &, const ggml_cgraph *, int node, std::string &why);

// Whether NIBBLEWAVE_GGML_UNFUSED does not name it.
bool is_fused(const char *name);

// Queue the nodes from the first on as one launch, and before it those between them that are none
// of its own. How many they are; 0 if they are to be queued one by one.
int fuse_norm(Queue &, const ggml_cgraph *, int first);          // fusion.cpp
int fuse_summed_norm(Queue &, const ggml_cgraph *, int first);   // fusion.cpp
int fuse_heads(Queue &, const ggml_cgraph *, int first);         // fused_heads.cpp
int fuse_cache(Queue &, const ggml_cgraph *, int first);         // fused_heads.cpp
int fuse_addend(Queue &, const ggml_cgraph *, int first);        // fused_products.cpp
int fuse_conversion(Queue &, const ggml_cgraph *, int first);    // fused_products.cpp
int fuse_glu(Queue &, const ggml_cgraph *, int first);           // fused_products.cpp
int fuse_normed_glu(Queue &, const ggml_cgraph *, int first);    // fused_products.cpp
int fuse_joint(Queue &, const ggml_cgraph *, int first);         // fused_joint.cpp
int fuse_normed_joint(Queue &, const ggml_cgraph *, int first);  // fused_joint.cpp
int fuse_rows_addend(Queue &, const ggml_cgraph *, int first);   // fused_joint.cpp
int fuse_rows_glu(Queue &, const ggml_cgraph *, int first);      // fused_joint.cpp
int fuse_biased_glu(Queue &, const ggml_cgraph *, int first);    // fused_biased.cpp
int fuse_expert_bias(Queue &, const ggml_cgraph *, int first);   // fused_biased.cpp
int fuse_route(Queue &, const ggml_cgraph *, int first);         // fused_route.cpp
int fuse_router(Queue &, const ggml_cgraph *, int first);        // fused_route.cpp
int fuse_normed_router(Queue &, const ggml_cgraph *, int first); // fused_route.cpp
int fuse_experts(Queue &, const ggml_cgraph *, int first);       // fused_experts.cpp
int fuse_state_rows(Queue &, const ggml_cgraph *, int first);    // fused_delta.cpp
int fuse_delta(Queue &, const ggml_cgraph *, int first);         // fused_delta.cpp

// Bytes of workspace that a fusion needs where it takes this node; 0 for most.
uint64_t scratch_of(const ggml_tensor *node);

} // namespace nw::engine

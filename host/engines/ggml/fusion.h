// SPDX-License-Identifier: MIT
// Several nodes as one launch, where ggml's own rules say that nobody reads what lies between.
#pragma once
#include "engines/ggml/queue.h"

namespace nw::engine {

// Queues the nodes from the first on as one launch. How many they are; 0 if they are to be queued
// one by one.
int launch_fused(Queue &, const ggml_cgraph *, int first);

// Whether NIBBLEWAVE_GGML_UNFUSED does not name it.
bool is_fused(const char *name);

// Each as launch_fused.
int fuse_norm(Queue &, const ggml_cgraph *, int first);    // fusion.cpp
int fuse_heads(Queue &, const ggml_cgraph *, int first);   // fused_heads.cpp
int fuse_addend(Queue &, const ggml_cgraph *, int first);  // fused_products.cpp
int fuse_glu(Queue &, const ggml_cgraph *, int first);     // fused_products.cpp
int fuse_route(Queue &, const ggml_cgraph *, int first);   // fused_experts.cpp
int fuse_experts(Queue &, const ggml_cgraph *, int first); // fused_experts.cpp

} // namespace nw::engine

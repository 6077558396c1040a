// SPDX-License-Identifier: MIT
// Several nodes as one launch, where ggml's own rules say that nobody reads what lies between.
#pragma once
#include "engines/ggml/queue.h"

namespace nw::engine {

// Queues the nodes from the first on as one launch. How many they are; 0 if they are to be queued
// one by one.
int launch_fused(Queue &, const ggml_cgraph *, int first);

} // namespace nw::engine

// SPDX-License-Identifier: MIT
#pragma once
#include "sim/hip/graph/capture.h"

namespace nw::hipsim {

// Wraps every graph entry point: initialises the runtime, takes the lock, then runs `body`.
template <class Body> hipError_t graph_call(const char *call, Body &&body) {
    return api(call, [&] {
        runtime();
        const std::lock_guard lock(graph_mutex());
        return body();
    });
}

} // namespace nw::hipsim

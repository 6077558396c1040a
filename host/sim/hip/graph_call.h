// SPDX-License-Identifier: MIT
#pragma once
#include "sim/hip/capture.h"

namespace nw::hipsim {

// Every entry point about graphs: the runtime, then the lock, then `body`.
template <class Body> hipError_t graph_call(const char *call, Body &&body) {
    return api(call, [&] {
        runtime();
        const std::lock_guard lock(graph_mutex());
        return body();
    });
}

} // namespace nw::hipsim

// SPDX-License-Identifier: MIT
// A stream of a device, and the memory that its launches use.
#pragma once
#include <set>

#include "engines/ggml/converted.h"
#include "engines/ggml/device.h"
#include "engines/ggml/hip_calls.h"
#include "engines/ggml/turns.h"

namespace nw::engine {

struct Queue {
    Device &device;
    hipStream_t stream = nullptr;
    void *workspace = nullptr;
    uint64_t workspace_bytes = 0;
    hip::Staging<HipCalls> staging{hip()};
    Turns turns{};
    Converted converted{};
    std::set<const ggml_tensor *> done{};    // nodes of the graph that an earlier launch computed
    std::set<const void *> refused_caches{}; // of values, which nw_qkv_heads refused to write
    const ggml_tensor *postponed =
        nullptr;                 // rows of a state that fuse_delta reads itself, if it can
    hipEvent_t passed = nullptr; // recorded after copies for other queues
    // For recorded graphs (replay.h): the nodes that were queued last have read memory on the host;
    // memory that launches used was freed; copies were queued since the last graph.
    bool reads_inputs = false, freed = false, copied = false;
};

} // namespace nw::engine

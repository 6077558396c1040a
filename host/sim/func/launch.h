// SPDX-License-Identifier: MIT
// What the waves of one dispatch share.
#pragma once
#include <memory>
#include <vector>

#include "sim/func/executable.h"
#include "sim/func/machine.h"
#include "sim/func/wave.h"

namespace nw::sim {

struct Context {
    const Dispatch &dispatch;
    Memory &memory;
    const Executable &code;
    const RunConfig &config;
    const Device &device;
    u64 kernarg = 0; // address
    u64 packet = 0;  // address of the AQL packet that dispatch_ptr shows
    u32 lds_bytes = 0;
    u32 waves_per_group = 0;
    u32 vgprs = 0; // of a wave
};

// A running workgroup.
struct Group {
    Dim3 id;
    std::vector<std::byte> lds;
    std::vector<Wave> waves;
    u32 ended = 0;
    u32 signalled = 0; // of the current barrier phase
    u32 phase = 0;     // barrier phases completed

    u32 live() const { return static_cast<u32>(waves.size()) - ended; }
    void check_barrier() {
        if (signalled && signalled >= live()) {
            signalled = 0;
            ++phase;
        }
    }
};

} // namespace nw::sim

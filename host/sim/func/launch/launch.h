// SPDX-License-Identifier: MIT
// State shared by the waves of one dispatch.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "sim/func/checker.h"
#include "sim/func/executable/executable.h"
#include "sim/func/machine.h"
#include "sim/func/wave.h"

namespace nw::sim {

class Turns;

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
    u32 vgprs = 0;          // of a wave
    Turns *turns = nullptr; // of workgroups on several threads
    bool together = false;  // all workgroups run at once, in turns on one thread
    const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
};

// As run(), but `schedule` runs all workgroups, in any order.
RunStats run(const Dispatch &, Memory &, const Device &, const RunConfig &,
             const std::function<RunStats(Context &)> &schedule);

// The checker that RunConfig selects; null for none.
std::unique_ptr<LaunchChecker> launch_checker(const Context &);

inline u64 group_count(const Dispatch &d) { return u64{d.grid.x} * d.grid.y * d.grid.z; }

void check_abandoned(); // throws Abandoned when the process ends

// gfx12's barriers that waves join by number.
inline constexpr u32 named_barriers = 16;
struct NamedBarrier {
    u32 members = 0, signalled = 0, phase = 0;
    void check() {
        if (members && signalled >= members) {
            signalled = 0;
            ++phase;
        }
    }
};

// A running workgroup.
struct Group {
    Dim3 id;
    u64 number = 0; // in the order of the grid
    std::vector<std::byte> lds;
    std::vector<Wave> waves;
    u32 ended = 0;
    u32 signalled = 0; // of the current barrier phase
    u32 phase = 0;     // barrier phases completed

    NamedBarrier named[named_barriers] = {}; // the first is number 1

    u32 live() const { return static_cast<u32>(waves.size()) - ended; }
    // True once the barrier that the wave waits at is complete.
    bool released(const Wave &w) const {
        return w.waits_for_joined ? named[w.joined - 1].phase >= w.joined_phases
                                  : phase >= w.barriers;
    }
    // Barrier state for a report: "3 have signalled".
    std::string state_of_barrier(const Wave &w) const;
    void leave_named(Wave &w) {
        if (w.joined == 0)
            return;
        NamedBarrier &b = named[w.joined - 1];
        b.members -= b.members != 0;
        b.check();
        w.joined = 0;
    }
    void check_barrier() {
        if (signalled && signalled >= live()) {
            signalled = 0;
            ++phase;
        }
    }
};

} // namespace nw::sim

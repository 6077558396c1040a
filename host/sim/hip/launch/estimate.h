// SPDX-License-Identifier: MIT
// Time of a device whose launches aren't timed: estimated from counted instructions and bytes, at
// the rates of the gfx's usual part. Only for hipEventElapsedTime of HIP programs that need a
// positive number: devices of hipsimOpenDevice, which the project's own tools use, have none.
#pragma once
#include <atomic>
#include <memory>

#include "sim/func/machine.h"
#include "sim/timing/memory/transfer.h"

namespace nw::hipsim {

struct Copy;
struct Fill;

// Clock of one device, in nanoseconds. Host work takes no time; causality holds: README of sim.
struct EstimatedClock {
    const sim::timing::Part &part;
    std::atomic<u64> host_ns{0}; // the end of what the host has waited for

    void wait_for(u64 ns) {
        for (u64 now = host_ns; now < ns && !host_ns.compare_exchange_weak(now, ns);) {
        }
    }
};

// Time of the command that this thread runs. Does nothing for commands of a timed device.
namespace estimate {
void begin(const EstimatedClock *clock, u64 start_ns); // null: not estimated
u64 now_ns();                                          // with what was spent since begin()
void spend_event();
void spend(const Copy &);
void spend(const Fill &);
void spend(const sim::RunStats &, u32 wave_size);
} // namespace estimate

} // namespace nw::hipsim

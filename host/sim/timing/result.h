// SPDX-License-Identifier: MIT
// Results of the timing model for a launch.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/timing/memory/memory_system.h"

namespace nw::sim::timing {

// Why a wave's next instruction didn't issue in the cycle after the last one.
enum class Stall : u8 {
    none,
    start,      // the wave starts
    fetch,      // the instruction isn't in the instruction cache
    branch,     // after a branch
    nop,        // s_nop, s_sleep, and before what the issue logic does itself
    delay,      // s_delay_alu
    valu,       // VALU result for a scalar or memory instruction, or a wait
    valu_queue, // too many VALU instructions wait for their sources
    valu_busy,  // other waves' VALU instructions
    scalar,     // an SGPR or SCC
    wait_load,  // s_waitcnt and similar, by what arrived last
    wait_store,
    wait_lds,
    wait_scalar,
    barrier,
    counter,     // too many of the wave's memory instructions are in flight
    memory_busy, // the address unit of the compute unit
    lds_busy,    // LDS of the compute unit
    port,        // another wave's instruction of this kind in the same cycle
    count
};
std::string_view name(Stall);

using Stalls = std::array<u64, static_cast<size_t>(Stall::count)>; // cycles of waves

struct LineCost {
    u64 issued = 0; // executions
    Stalls stalls{};
};

// Busy cycles of units, summed over the part. lds_conflicts: LDS cycles spent on bank conflicts
// (without flat instructions).
struct Busy {
    u64 valu = 0, wmma = 0, trans = 0, salu = 0, lds = 0, lds_conflicts = 0, vmem = 0;
};

// Busy share of the timed cycles; dram: of the part's peak bandwidth, by all workgroups.
struct Utilization {
    f64 valu = 0, wmma = 0, trans = 0, salu = 0, lds = 0, dram = 0;
};

struct Result {
    u64 cycles = 0;            // from the first wave's start to the last one's end, extrapolated
    f64 time_us = 0;           // with launch overhead
    f64 mhz = 0;               // the shader clock that these cycles ran at
    std::vector<f64> draws_us; // the same under each draw of the constants (draws.h), if any
    std::string limiter;       // "dram", "l2", "valu", "wmma", "lds", "issue", "latency"
    f64 occupancy = 0;         // waves per SIMD that have a slot, while the kernel ran
    u64 waves = 0;             // timed
    u64 insts = 0;             // timed
    u64 insts_skipped = 0;     // of these, in iterations of loops that were skipped
    u64 groups = 0, groups_timed = 0;
    f64 sampling_error = 0; // relative, with 95 % confidence; 0 when all was timed
    Stalls stalls{};
    Busy busy;
    Utilization use;
    f64 slots = 0;                     // share of the workgroups that fit at once
    MemoryCounts memory;               // of what was timed
    f64 dram_read = 0, dram_write = 0; // bytes of all workgroups
    f64 scale = 1;                     // groups / groups_timed
    std::vector<LineCost> lines;       // by instruction index, of what was timed
    std::vector<std::string> unknown;  // mnemonics without a class of cost
    std::string part;
    u32 simds = 0;
};

// One instruction of one wave.
struct IssueEvent {
    u64 group;
    u32 wave, simd, index; // both: simd of the part, index of the instruction
    u64 issue, done;       // done: VALU executes, data arrives
    Stall why;
    u64 lost; // cycles between ready and issue
    // For memory instructions: the bytes of their sectors (0 for others), and the level that
    // answered.
    u32 bytes = 0, dram_bytes = 0; // and what DRAM moved because of it
    MemoryWatcher::Level level = MemoryWatcher::Level::l0;
};

// Observes a timed launch, for traces and logs. Times are cycles since its start.
class Watcher : public MemoryWatcher {
public:
    virtual void wave_started(u64 group, u32 wave, u32 simd, u64 at) = 0;
    // It leaves its slot: accesses may be outstanding until a later IssueEvent::done.
    virtual void wave_ended(u64 group, u32 wave, u32 simd, u64 at) = 0;
    // In order within a wave only: delivered when the wave ends, before wave_ended().
    virtual void issued(const IssueEvent &) = 0;
    // After all other calls, before the next launch on the device.
    virtual void finished(const Result &) {}
};

} // namespace nw::sim::timing

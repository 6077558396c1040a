// SPDX-License-Identifier: MIT
#include "sim/hip/launch/estimate.h"

#include <algorithm>

#include "sim/func/launch/clock.h"
#include "sim/hip/stream/action.h"

namespace nw::hipsim::estimate {

namespace {

using sim::timing::Transfer, sim::timing::transfer_work;

thread_local const EstimatedClock *clock_of_command = nullptr;
thread_local f64 spent_ns = 0;

void add_us(f64 us) { spent_ns += 1000 * us; }

// Instructions that hold a SIMD for longer, in cycles; T-050, T-053, T-054.
constexpr f64 trans_cycles = 4, wmma_cycles = 32, dependent_cycles = 5;
constexpr u32 simds_per_wgp = 4;

} // namespace

void begin(const EstimatedClock *clock, u64 start_ns) {
    clock_of_command = clock;
    spent_ns = static_cast<f64>(start_ns);
}

u64 now_ns() { return static_cast<u64>(spent_ns); }

void spend_event() {
    if (clock_of_command)
        add_us(clock_of_command->part.packet_interval);
}

void spend(const Copy &copy) {
    if (!clock_of_command)
        return;
    const auto kind = transfer_of(copy);
    const sim::timing::Part &part = clock_of_command->part;
    const bool by_link = kind == Transfer::to_device || kind == Transfer::to_host;
    add_us((by_link ? part.copy_overhead : part.launch_overhead) +
           transfer_work(part, kind, copy.width * copy.height * copy.depth).us);
}

void spend(const Fill &fill) {
    if (!clock_of_command)
        return;
    const sim::timing::Part &part = clock_of_command->part;
    const u64 bytes = fill.element * fill.width * fill.height * fill.depth;
    add_us(part.launch_overhead + transfer_work(part, Transfer::fill, bytes).us);
}

// The most of three: the SIMDs' issue, the bytes, and one wave's instructions in a row. And what a
// wave has waited for.
void spend(const sim::RunStats &stats, u32 wave_size) {
    if (!clock_of_command)
        return;
    const sim::timing::Part &part = clock_of_command->part;
    const sim::InstCounts &n = stats.insts;
    const f64 passes = wave_size == 64 ? 2 : 1;
    const f64 issue =
        passes * (static_cast<f64>(n.valu + n.vopd) + trans_cycles * static_cast<f64>(n.trans)) +
        wmma_cycles * static_cast<f64>(n.wmma) +
        static_cast<f64>(n.total() - n.valu - n.vopd - n.trans - n.wmma);
    const f64 alone = dependent_cycles * static_cast<f64>(n.total()) /
                      static_cast<f64>(std::max<u64>(stats.waves, 1));
    const f64 waited = static_cast<f64>(stats.waited) / sim::untimed_mhz;
    const f64 bytes = static_cast<f64>(stats.bytes.global_load + stats.bytes.global_store);
    add_us(part.launch_overhead + waited +
           std::max({issue / (part.wgps * simds_per_wgp) / part.shader_mhz, alone / part.shader_mhz,
                     bytes / (part.dram_gb_per_s * part.dram_efficiency) / 1000}));
}

} // namespace nw::hipsim::estimate

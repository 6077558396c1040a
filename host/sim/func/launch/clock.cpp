// SPDX-License-Identifier: MIT
#include "sim/func/launch/clock.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <numeric>
#include <thread>

#include "sim/func/launch/launch.h"

namespace nw::sim {

namespace {

using Host = std::chrono::steady_clock;

// A busy wait: at least this many readings in a row, each within so many instructions of the one
// before (code that isn't optimized divides by a clock's rate in hundreds), and no access between
// them to memory that others see. Short delays and measurements stay below that.
constexpr u32 least_readings = 256;
constexpr u64 longest_loop = 2048;

// Each further reading skips this part of the time waited so far: the end is overshot by less than
// that part, however long the wait is. A reading by another instruction begins the next wait:
// `start` in a loop around the loop.
constexpr u64 skipped_part = 64;

// The program sees a wait that lasts as long as it says: other streams and the host go on
// meanwhile. Waves of a launch wait side by side, so each sleeps only up to its own time.
void sleep_until(const Wave &w, u64 cycles) {
    constexpr auto turn = std::chrono::milliseconds(10);
    const auto end = w.context->begun + std::chrono::microseconds(cycles / untimed_mhz);
    for (auto now = Host::now(); now < end; now = Host::now()) {
        check_abandoned();
        std::this_thread::sleep_for(std::min<Host::duration>(end - now, turn));
    }
}

u64 issued_by(const Wave &w) { return std::accumulate(w.counts, std::end(w.counts), u64{0}); }

u64 untimed_clock(Wave &w, const Inst &i) {
    const u64 issued = issued_by(w);
    BusyWait &wait = w.waiting;
    const u64 accesses = w.context->code.tallies.accesses(w.counts) - wait.own;
    const bool goes_on = issued - wait.issued <= longest_loop && accesses == wait.accesses;
    if (!goes_on)
        wait.readings = 0;
    if (!goes_on || wait.reader != &i)
        wait.begun = issued + wait.skipped;
    wait.reader = &i;
    wait.accesses = accesses;
    wait.issued = issued;
    if (++wait.readings > least_readings) {
        wait.skipped += (issued + wait.skipped - wait.begun) / skipped_part;
        sleep_until(w, issued + wait.skipped);
    }
    return issued + wait.skipped;
}

} // namespace

u64 shader_clock(Wave &w, const Inst &i) {
    const Clock &c = w.context->config.clock;
    return c.mhz ? c.origin + w.cycles : untimed_clock(w, i);
}

u64 shader_clock_upper(const Wave &w) {
    const Clock &c = w.context->config.clock;
    return c.mhz ? c.origin + w.cycles : issued_by(w) + w.waiting.skipped;
}

u64 constant_clock(Wave &w, const Inst &i) {
    const u64 mhz = w.context->config.clock.mhz;
    return shader_clock(w, i) * constant_clock_mhz / (mhz ? mhz : untimed_mhz);
}

} // namespace nw::sim

// SPDX-License-Identifier: MIT
// Long loops. While all waves of a WGP go around the same loop at constant rates, the WGP sleeps:
// its clock stands still, and of the iterations that its waves would do only the memory accesses
// are played, at about their times. Caches and channels, and so the other WGPs, see no difference.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "sim/timing/simd.h"

namespace nw::sim::timing {

class Steady {
public:
    // `first`: a wave whose longest loop all others are expected to run. Null: nothing is skipped.
    Steady(const Machine &m, const WaveTrace *first);

    void started(TimedWave &w);
    void ended(const TimedWave &w);
    // After a wave tried to issue, `now` by its WGP's clock, which has slept for `slept` cycles.
    void issued(TimedWave &w, u64 now, u64 slept) {
        if (w.index == header_ && w.reader.starts_run() && w.loop.run != w.reader.run())
            passed(w, now, slept);
    }

    bool asleep(u32 wgp) const { return header_ != ~0u && wgps_[wgp].asleep; }
    // Of a WGP that sleeps, in the machine's time: when it accesses memory next, or wakes up.
    u64 next(u32 wgp) const;
    // What it does at that time. Returns the cycles that it has slept, once it wakes up.
    u64 play(u32 wgp, u64 now);

    // Adds the skipped instructions, in proportion to those of the same kind that were played.
    void add_skipped(Result &r) const;

private:
    // Of WGPs with that many workgroups, measured in stretches of time (windows) in which the
    // oldest wave runs a few iterations.
    struct Rates {
        std::vector<f64> issued;               // instructions, by workgroup, oldest first
        f64 time = 0;                          // cycles
        f64 windows = 0, sum = 0, squares = 0; // of the windows' rates
        void add(std::span<const u64> insts, u64 cycles);
        void forget_half();
        f64 error() const; // of the mean, relative, one standard error
    };
    // A workgroup while its WGP sleeps.
    struct Sleeper {
        TimedGroup *group;
        f64 next, period; // machine's time of the next iteration; cycles of one
    };
    struct Wgp {
        std::vector<TimedWave *> waves; // oldest first
        u32 outside = 0;                // waves not in the loop
        u32 passes = 0;                 // of the oldest wave, since waves came or left
        u64 begin = 0;                  // of the open window, by its own clock
        f64 measured = 0, skipped = 0;  // iterations of the oldest wave
        bool asleep = false;
        u64 since = 0, until = 0;
        std::vector<Sleeper> sleepers;
        f64 squares = 0; // sum of squared errors of what it slept
    };

    void passed(TimedWave &w, u64 now, u64 slept);
    void close_window(Wgp &, u64 now, u64 slept);
    void sleep(Wgp &, const Rates &, u64 now);
    void skip_iteration(TimedWave &w, u64 now);
    u64 iteration_length(TraceReader reader) const;
    template <class Visit> void pass_iteration(TraceReader &reader, Visit visit) const;
    static void restart(Wgp &); // the measurement
    static void mark(Wgp &, u64 now);

    const Machine &m_;
    u32 header_ = ~0u;             // the loop's first instruction
    std::vector<u32> next_memory_; // by instruction: it, or the next one that has a payload
    std::vector<Wgp> wgps_;
    std::map<size_t, Rates> rates_; // by workgroups in a WGP
    std::map<std::pair<u32, u32>, u64> skipped_runs_;
};

} // namespace nw::sim::timing

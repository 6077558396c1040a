// SPDX-License-Identifier: MIT
// Long loops: while all waves go around the same loop at a constant rate, iterations are skipped
// and their time is added. Caches see the memory accesses of skipped iterations.
#pragma once
#include <map>
#include <vector>

#include "sim/timing/core/simd.h"

namespace nw::sim::timing {

class Steady {
public:
    // A stretch of time in which each wave runs a few iterations.
    struct Window {
        u64 iterations, cycles;
    };
    // `first`: a wave whose longest loop all others are expected to run. Null: nothing is skipped.
    Steady(const Machine &m, const WaveTrace *first);

    void started(TimedWave &w);
    void ended(const TimedWave &w);
    // After a wave tried to issue: counts its iterations, and skips some.
    void issued(TimedWave &w, u64 now) {
        if (w.index == header_ && w.reader.starts_run() && w.loop.run != w.reader.run())
            passed(w, now);
    }

    u64 skipped_cycles() const { return static_cast<u64>(skipped_cycles_); }
    u64 skipped_insts() const { return skipped_insts_; }
    // Adds the skipped instructions, in proportion to those of the same kind that were played.
    void add_skipped(Result &r) const;

private:
    struct Rate {
        f64 mean, error; // iterations of all waves in a cycle; relative, one standard error
    };

    void passed(TimedWave &w, u64 now);
    void restart(); // the measurement
    void close_window(u64 now);
    Rate rate() const;
    u64 dram_bytes() const;
    f64 dram_share(u64 now) const;
    f64 dram_share_of(u64 bytes, f64 cycles) const;
    f64 skippable(const Rate &rate) const;
    void skip(const Rate &rate, f64 cycles);
    void skip_iteration(TimedWave &w);
    template <class Visit> void pass_iteration(TraceReader &reader, Visit visit) const;

    const Machine &m_;
    u32 header_ = ~0u;             // the loop's first instruction
    std::vector<u32> next_memory_; // by instruction: it, or the next one that has a payload
    std::vector<TimedWave *> waves_;
    u64 outside_ = 0, pending_ = 0; // waves not in the loop; waves yet to skip
    u32 epoch_ = 0;                 // of the measurement
    u64 measured_from_ = 0, dram_before_ = 0;
    u64 begin_ = 0, iterations_ = 0, counted_ = 0; // of the open window; of all windows
    std::vector<Window> windows_;
    f64 most_, last_rate_ = 0; // iterations of a wave to skip at once; the last skip's rate
    f64 skipped_cycles_ = 0, squares_ = 0; // sum of squared errors
    u64 skipped_insts_ = 0;
    std::map<std::pair<u32, u32>, u64> skipped_runs_;
};

} // namespace nw::sim::timing

// SPDX-License-Identifier: MIT
// Extrapolates the time of large grids. Once generations of workgroups take equally long, later
// ones are left out and their time is added. The last, partial generation is kept, so that the
// machine drains as in the full grid.
//
// A stream that writes takes longer once L2 and MALL are full of dirty lines: each line that enters
// then evicts one. If that is still to come, caches see the accesses of the next generations, as
// many as fill L2 and MALL (pass.h). Then comes the sample's second part, to the grid's end. A grid
// that ends before or soon after they are full is played as a whole.
#pragma once
#include <span>
#include <vector>

#include "sim/timing/result.h"
#include "sim/timing/trace.h"

namespace nw::sim::timing {

// Treatment of a range of workgroups. `passed`: only caches see them.
struct Stretch {
    enum class What : u8 { played, passed, left_out };
    What what;
    GroupRange groups;
    bool as_later = false; // left out: takes as long as the next played ones, not those before

    bool is_played() const { return what == What::played; }
};
using Plan = std::vector<Stretch>; // of the whole grid, in order

// Work of one workgroup, known without playing it.
struct GroupWork {
    u64 group = 0, insts = 0, sectors = 0, written = 0; // written: sectors
};

// Parameters of a grid's sampling.
struct Grid {
    u64 all = 0, resident = 1;          // workgroups; those that fit at once
    bool samples = false;               // the plan may change while it is played
    std::vector<GroupWork> probes;      // of workgroups all over the grid; none: not known
    f64 dram_bytes = 0, mall_bytes = 0; // that they sustain in a cycle
};

class Generations {
public:
    Generations() = default;
    Generations(Grid grid, Plan plan);

    // The launch at the end of a generation.
    struct Seen {
        u64 at = 0, issued = 0; // cycles; instructions of all workgroups
        f64 lived = 0;          // cycles that ended waves had a slot
        MemoryCounts counts;
        LastLevels levels;
        f64 insts = 0; // of ended workgroups; filled in by seen()
    };
    // A workgroup of `insts` instructions ended at cycle `at`; `started` is the next one to start.
    // True if it was the last one of a generation: seen() must be called.
    bool ended(u64 at, u64 insts);
    // May change what the plan says of workgroups from `started` on.
    void seen(Seen, u64 started);
    // A generation was passed over, which added this to the counts.
    void passed(const MemoryCounts &);
    // The next stretch begins that is played.
    void resumed() { ends_.emplace_back(); }

    const Plan &plan() const { return plan_; }
    u64 played() const; // workgroups

    // Lines that enter caches by what a stretch leaves out, which follows the one played last.
    struct Lines {
        u64 l2 = 0, mall = 0;
    };
    Lines lines_of(const Stretch &) const;

    // Adds the cycles of the generations that were left out or passed over, their error, and what
    // they moved. `r` has those of the played ones.
    void add_left_out(Result &r) const;

private:
    // Generations at the beginning of a second part that are not measured: the machine still has
    // workgroups of before.
    static constexpr u64 later_ends_aside = 1;
    // Generations of the first part whose noise is that of pairs.
    static constexpr size_t fewest_before = 12;
    // Share of DRAM's bandwidth below which evicted lines don't delay others.
    static constexpr f64 busy_memory = 0.6;

    // Time and traffic of a generation of a played stretch, with their errors.
    struct Rate {
        size_t generations =
            0; // that were measured; with fewer than 2 the error is as large as the time
        size_t averaged = 0;           // of these, the last ones
        f64 cycles = 0, trend = 0;     // trend: growth
        f64 error = 0, pair_error = 0; // one standard error; the same by pairs of generations
        f64 traffic = 0, dram_read = 0, dram_write = 0, lived = 0, insts = 0, sectors = 0,
            written = 0;
        f64 l2_lines = 0, mall_lines = 0, kept = 0; // lines that entered; bytes that became dirty
        f64 error_of(f64 left) const; // of that many others; one standard error, in cycles
        f64 bound_of(f64 left) const; // the truth lies within, in 95 of 100 cases
    };
    Rate rate(size_t stretch) const;
    std::span<const Seen> measured(size_t stretch) const;
    static u64 moved_by_dram(const MemoryCounts &); // bytes
    static u64 moved_by_mall(const MemoryCounts &);
    f64 traffic(const MemoryCounts &) const; // cycles that it takes at least
    // Generations until a stream has replaced what L2 and MALL hold; 0 if that changes no time.
    // `last`: the last of these caches fills, too.
    struct Turnover {
        u64 generations = 0;
        bool last = false;
    };
    void decide(const Rate &, u64 started, u64 left, Turnover);
    u64 alike_until(const Rate &, u64 started) const;
    f64 work(const Rate &, GroupRange) const;
    Turnover turnover(const Rate &, u64 left) const;
    void replace_rest(u64 from, const Plan &rest);
    Rate settled(Rate) const;
    struct Gap;
    Gap gap(size_t stretch, const Rate &before, const Rate &after, size_t passed) const;

    Grid grid_;
    Plan plan_;
    bool fills_last_ = false; // the last cache, while workgroups are left out
    u64 ended_ = 0, last_ = 0;
    u64 insts_ = 0;                          // of a workgroup
    bool equal_ = true;                      // all workgroups have as many
    f64 sum_ = 0, squares_ = 0;              // of instructions of workgroups
    std::vector<std::vector<Seen>> ends_{1}; // by played stretch
    std::vector<MemoryCounts> passed_;       // by generation
};

} // namespace nw::sim::timing

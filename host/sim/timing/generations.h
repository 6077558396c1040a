// SPDX-License-Identifier: MIT
// Extrapolates the time of large grids. Once generations of workgroups take equally long, whole
// generations are left out and their time is added. The last, partial generation is kept, so that
// the machine drains as in the full grid.
#pragma once
#include <vector>

#include "sim/timing/result.h"

namespace nw::sim::timing {

class Generations {
public:
    Generations() = default;
    // `all` workgroups, of which `resident` fit at once; the first `timed` are simulated. With
    // `samples`, and `timed` equal to `all`, timed() shrinks once the rest can be extrapolated.
    Generations(u64 all, u64 resident, u64 timed, bool samples);

    // A workgroup of `insts` instructions ended at cycle `at`. Until then `started` workgroups had
    // started, and `issued` instructions had been issued by all workgroups.
    void ended(u64 at, u64 insts, u64 started, u64 issued);
    u64 timed() const { return timed_; }

    // Adds the cycles of the generations that were left out, and their estimated error.
    void add_left_out(Result &) const;

private:
    struct Estimate {
        f64 cycles, error; // of the generations left out; one standard error, in cycles
    };
    Estimate left_out(u64 timed, size_t ends) const;

    u64 all_ = 0, resident_ = 1, timed_ = 0;
    bool samples_ = false;
    struct End { // of a generation
        u64 at, issued;
    };
    u64 ended_ = 0, last_ = 0;
    u64 insts_ = 0;     // of a workgroup
    bool equal_ = true; // all workgroups have as many
    std::vector<End> ends_;
};

// How many of the first workgroups to simulate, `most` generations or fewer, such that only whole
// generations are left out.
u64 first_generations(u64 all, u64 resident, u64 most);

} // namespace nw::sim::timing

// SPDX-License-Identifier: MIT
// Large grids: once generations of workgroups take equally long, some of them are left out and
// their time is added. As many workgroups as would be left for the last, partial generation remain,
// so that the machine drains as it does at the end of the whole grid.
#pragma once
#include <vector>

#include "sim/timing/result.h"

namespace nw::sim::timing {

class Generations {
public:
    Generations() = default;
    // `all` workgroups, of which `resident` fit at once. The first `timed` are played; all of them:
    // if it `samples`, as many as the rest of the time is known from.
    Generations(u64 all, u64 resident, u64 timed, bool samples);

    // A workgroup of so many instructions ended, when so many had started and so many instructions
    // had been issued by all.
    void ended(u64 at, u64 insts, u64 started, u64 issued);
    u64 timed() const { return timed_; }

    // Adds the cycles of what was left out, and their error.
    void add_left_out(Result &) const;

private:
    struct Estimate {
        f64 cycles, error; // of what is left out; the error in cycles, one standard error
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

// So many of the first workgroups, up to `most` generations of them, that whole ones are left out.
u64 first_generations(u64 all, u64 resident, u64 most);

} // namespace nw::sim::timing

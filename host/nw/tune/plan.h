// SPDX-License-Identifier: MIT
// Jobs of nw tune, from its options.
#pragma once
#include <string>
#include <vector>

#include "nw/tune/job.h"

namespace nw::cli {

struct TuneOptions {
    std::string gfx, device, out; // out: the table
    std::string family{few_rows_table};
    std::string shapes = "bench/shapes.csv";
    std::string candidates; // directory; empty: the build's
    std::string only;       // regular expression for candidates
    // Empty: the family's usual ones, or with `again` all.
    std::vector<std::string> dtypes, groups, zeros, types;
    std::vector<u32> m;
    u32 repeats = 21;
    bool dry_run = false;
    bool again = false;    // the rows of the table
    bool all_rows = false; // those too that gain nothing
};

// Throws Error where no kernels are to choose from. The table: of `again`.
TunePlan plan(const TuneOptions &, const TuningTable &);

} // namespace nw::cli

// SPDX-License-Identifier: MIT
// Runs the instructions of one gfx on the simulator, at every host level, and compares every lane
// with the oracle.
#pragma once
#include <set>
#include <string>

#include "isa/random/batch.h"

namespace nw::oracle {

struct Options {
    std::string only;  // a part of the mnemonic; empty: all
    u64 seed = 0x5eed; // printed with a failure
    unsigned waves = 128;
    unsigned failures_shown = 1; // per form
    bool show_refused = false;
    std::vector<sim::HostLevel> levels = sim::host_levels();
};

struct Totals {
    std::set<std::string> instructions, failed;
    u64 forms = 0, refused = 0; // by LLVM: not every instruction has every form
    u64 modes = 0, lanes = 0;   // each lane at every host level
};

// Rows that the simulator and LLVM have on this gfx, in waves of 32 or 64. Failures go to stdout,
// one line each.
Totals check(const std::string &gfx, unsigned wave, const Options &);

// The same for lane_cases and dual_cases, in waves of 32.
Totals check_lanes(const std::string &gfx, const Options &);
Totals check_dual(const std::string &gfx, const Options &);

// WMMA and SWMMAC, in waves of 32 and 64. `lanes` are elements of D.
Totals check_matrix(const std::string &gfx, const Options &);

} // namespace nw::oracle

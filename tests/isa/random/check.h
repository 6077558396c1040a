// SPDX-License-Identifier: MIT
// Runs the instructions of one gfx on the simulator and compares every lane with the oracle.
#pragma once
#include <set>
#include <string>

#include "isa/random/text.h"

namespace nw::oracle {

struct Options {
    std::string only;  // a part of the mnemonic; empty: all
    u64 seed = 0x5eed; // printed with a failure
    unsigned waves = 256;
    unsigned failures_shown = 1; // per variant
};

struct Totals {
    std::set<std::string> instructions;
    u64 variants = 0, modes = 0, lanes = 0, failed_rows = 0;
    double reference_seconds = 0;
};

// All rows that the simulator and LLVM have on this gfx. Failures go to stdout, one line each.
Totals check(const std::string &gfx, const Options &);

// The same for lane_cases.
Totals check_lanes(const std::string &gfx, const Options &);

} // namespace nw::oracle

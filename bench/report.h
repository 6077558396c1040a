// SPDX-License-Identifier: MIT
// Runs the suite, and writes what --json and --html name.
#pragma once
#include "bench/suites.h"

namespace nw::bench {

// False: an output was wrong, or a figure got worse.
bool run_and_write(const Options &, const Shapes &);

} // namespace nw::bench

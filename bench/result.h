// SPDX-License-Identifier: MIT
// Result of a suite.
#pragma once
#include <string>

#include "bench/suites.h"
#include "bench/table.h"

namespace nw::bench {

struct Result {
    Json rows = Json::array();
    std::string device = "sim"; // measured device
    bool right = true;          // false: an output was wrong, or a figure got worse
};

// Prints the suite's tables and returns their rows; throws Usage if options select nothing. Each
// suite's program defines it.
Result run_suite(const Options &, const Shapes &);

} // namespace nw::bench

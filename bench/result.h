// SPDX-License-Identifier: MIT
// What a suite gives.
#pragma once
#include <string>

#include "bench/suites.h"
#include "bench/table.h"

namespace nw::bench {

struct Result {
    Json rows = Json::array();
    std::string device = "sim"; // whose figures these are
    bool right = true;          // false: an output was wrong, or a figure got worse
};

// Prints the suite's tables and returns their rows; throws Usage for options that nothing fits.
// Each suite's program defines it.
Result run_suite(const Options &, const Shapes &);

} // namespace nw::bench

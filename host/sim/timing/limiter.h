// SPDX-License-Identifier: MIT
// The limiter of a launch.
#pragma once
#include <string>

#include "sim/timing/result.h"

namespace nw::sim::timing {

Utilization utilization(const Result &, const Part &);

// The unit with the highest utilization, from 60 % on: "dram", "valu" (with WMMA), "wmma", "lds",
// "issue". Below that, the main stall reason: "barrier", "latency".
std::string limiter(const Result &, const Part &);

} // namespace nw::sim::timing

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

// Share of the waves' cycles in which they wait for code; from 3 % on, stats say so.
f64 fetch_share(const Result &);
inline constexpr f64 cold_code_share = 0.03;

} // namespace nw::sim::timing

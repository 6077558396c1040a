// SPDX-License-Identifier: MIT
// What a launch was bound by.
#pragma once
#include <string>

#include "sim/timing/result.h"

namespace nw::sim::timing {

// Share of the launch's cycles, or of what the part can move in them, that each was busy.
struct Utilization {
    f64 valu = 0, wmma = 0, trans = 0, salu = 0, lds = 0, dram = 0;
};
Utilization utilization(const Result &, const Part &);

// The one that was busiest, from 60 % on: "dram", "valu" (with WMMA), "wmma", "lds", "issue".
// Below, what waves waited for most: "barrier", "latency".
std::string limiter(const Result &, const Part &);

} // namespace nw::sim::timing

// SPDX-License-Identifier: MIT
// From raw clocks to a number.
#pragma once
#include <span>

#include "measure/micro/row.h"

namespace nw::micro {

// The first passes load the instruction cache and are left out, where enough remain.
inline constexpr u32 warm_passes = 2;

f64 median(std::span<const f64> values);

// clocks: raw cycles per pass for 0 steps in a row, for few and, for a slope, for many. With many,
// the value is the slope between few and many, in which start and end costs cancel. Without, it is
// the time of few minus that of no step, per step. Throws Error if a record is missing.
Row derive(std::string name, const std::map<u32, std::vector<u32>> &clocks);

} // namespace nw::micro

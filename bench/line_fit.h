// SPDX-License-Identifier: MIT
// The simplest model of a memory-bound kernel, which any other must beat: t0 + bytes / bandwidth.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::bench {

struct Point {
    f64 bytes, us;
};

struct Line {
    f64 t0_us = 0, us_per_byte = 0;
    f64 at(f64 bytes) const { return t0_us + us_per_byte * bytes; }
    f64 gb_per_s() const { return 1e-3 / us_per_byte; }
};

// The line with the least sum of squared relative errors. Needs two points of different bytes.
Line fit_line(std::span<const Point>);

// For each point what a line through all the others says of it, in us. Needs three points.
std::vector<f64> leave_one_out(std::span<const Point>);

// Errors of a group of rows, in percent.
struct Errors100 {
    f64 mean = 0, mape = 0, worst = 0; // mean and worst with their signs
};
Errors100 summarize(std::span<const f64> error_pct);

inline f64 error_pct(f64 got, f64 published) { return 100 * (got / published - 1); }

} // namespace nw::bench

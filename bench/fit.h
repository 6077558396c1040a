// SPDX-License-Identifier: MIT
// Least squares: the line t0 + bytes / bandwidth, the simplest model of a memory-bound kernel,
// which any other must beat; and the influence of each row on a fit.
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

// The errors that rows would have had they been left out of a least-squares fit, to first order:
// e[i] / (1 - h[i]), h the diagonal of J (J^T J)^-1 J^T (the hat matrix; Allen's PRESS residuals).
// `derivatives[p][i]`: of row i's error by parameter p. Parameters with no effect, or with a linear
// combination of others' effects, are ignored.
std::vector<f64> left_out(std::span<const f64> errors,
                          std::span<const std::vector<f64>> derivatives);

// For each point the error of the line through all the others, in percent. Needs three points.
std::vector<f64> leave_one_out(std::span<const Point>);

// Errors of a group of rows, in percent.
struct Errors100 {
    f64 mean = 0, mape = 0, worst = 0; // mean and worst with their signs
};
Errors100 summarize(std::span<const f64> error_pct);

inline f64 error_pct(f64 got, f64 published) { return 100 * (got / published - 1); }

} // namespace nw::bench

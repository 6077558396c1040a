// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <random>

#include "bench/fit.h"

using namespace nw;
using bench::left_out;

namespace {

// y = p0 + p1 x by least squares, without point `skip`.
std::pair<f64, f64> line_without(const std::vector<f64> &x, const std::vector<f64> &y, u64 skip) {
    f64 n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (u64 i = 0; i < x.size(); ++i) {
        if (i == skip)
            continue;
        n += 1, sx += x[i], sy += y[i], sxx += x[i] * x[i], sxy += x[i] * y[i];
    }
    const f64 slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    return {(sy - slope * sx) / n, slope};
}

} // namespace

TEST_CASE("of a linear model the left-out errors are those of fits without the row") {
    std::mt19937 random(7);
    std::normal_distribution<f64> noise(0, 0.5);
    std::vector<f64> x, y;
    for (int i = 0; i < 9; ++i) {
        x.push_back(i == 8 ? 20 : i);
        y.push_back(3 + 2 * x.back() + noise(random));
    }
    const auto [p0, p1] = line_without(x, y, x.size());
    std::vector<f64> errors, ones(x.size(), 1);
    for (u64 i = 0; i < x.size(); ++i)
        errors.push_back(p0 + p1 * x[i] - y[i]);
    // The column that repeats another has no part in it.
    const std::vector<f64> got = left_out(errors, std::vector{ones, x, ones});
    for (u64 i = 0; i < x.size(); ++i) {
        const auto [q0, q1] = line_without(x, y, i);
        CHECK(got[i] == doctest::Approx(q0 + q1 * x[i] - y[i]));
    }
    CHECK(std::abs(got[8]) > 2 * std::abs(errors[8])); // far out: it draws the line to itself
}

TEST_CASE("parameters that move nothing leave the errors as they are") {
    const std::vector<f64> errors = {1, -2, 3};
    CHECK(left_out(errors, {}) == errors);
    CHECK(left_out(errors, std::vector<std::vector<f64>>{std::vector<f64>(3, 0.0)}) == errors);
}

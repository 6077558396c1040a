// SPDX-License-Identifier: MIT
// Mean of a few measured values, its standard error, and their trend.
#pragma once
#include <cmath>
#include <span>

#include "base/types.h"

namespace nw::sim::timing::statistics {

constexpr size_t fewest_to_judge = 6;
constexpr f64 significant = 2; // standard errors of the slope

inline f64 mean(std::span<const f64> x) {
    f64 sum = 0;
    for (f64 one : x)
        sum += one;
    return sum / static_cast<f64>(x.size());
}

// Growth per generation by least squares, that of noise aside if there are enough to tell.
inline f64 trend(std::span<const f64> x) {
    const auto n = static_cast<f64>(x.size());
    const f64 middle = (n - 1) / 2, all = mean(x);
    f64 products = 0, squares = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const f64 at = static_cast<f64>(i) - middle;
        products += at * x[i];
        squares += at * at;
    }
    const f64 slope = products / squares;
    if (x.size() < fewest_to_judge)
        return slope;
    f64 rest = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const f64 off = x[i] - all - slope * (static_cast<f64>(i) - middle);
        rest += off * off;
    }
    return std::abs(slope) < significant * std::sqrt(rest / (n - 2) / squares) ? 0 : slope;
}

// By batches of `batch`. A long generation follows a short one, so pairs estimate the mean better.
inline f64 standard_error(std::span<const f64> x, size_t batch = 1) {
    const size_t batches = x.size() / batch;
    const f64 all = mean(x.last(batches * batch));
    f64 squares = 0;
    for (size_t n = 0; n < batches; ++n) {
        const f64 off = mean(x.last((n + 1) * batch).first(batch)) - all;
        squares += off * off;
    }
    const auto n = static_cast<f64>(batches);
    return std::sqrt(squares / (n - 1) / n);
}

// Student's t: standard errors of a mean of n values within which the truth lies in 95 % of cases.
inline f64 student(size_t n) {
    constexpr f64 t[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26};
    return n < 2 ? t[0] : n - 2 < std::size(t) ? t[n - 2] : 2.1;
}

} // namespace nw::sim::timing::statistics

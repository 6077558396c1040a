// SPDX-License-Identifier: MIT
#include "bench/sensitivity/least_squares.h"

#include <cmath>

namespace nw::bench {

namespace {

f64 dot(std::span<const f64> a, std::span<const f64> b) {
    f64 sum = 0;
    for (u64 i = 0; i < a.size(); ++i)
        sum += a[i] * b[i];
    return sum;
}

} // namespace

std::vector<f64> left_out(std::span<const f64> errors,
                          std::span<const std::vector<f64>> derivatives) {
    // Gram-Schmidt: over an orthonormal basis q of the columns of J, h[i] is the sum of q[i]^2.
    constexpr f64 negligible = 1e-9; // of a column that the ones before it already span
    std::vector<std::vector<f64>> basis;
    for (std::vector<f64> column : derivatives) {
        const f64 length = std::sqrt(dot(column, column));
        for (const std::vector<f64> &q : basis) {
            const f64 along = dot(q, column);
            for (u64 i = 0; i < column.size(); ++i)
                column[i] -= along * q[i];
        }
        const f64 rest = std::sqrt(dot(column, column));
        if (!(rest > negligible * length))
            continue;
        for (f64 &value : column)
            value /= rest;
        basis.push_back(std::move(column));
    }
    std::vector<f64> out;
    for (u64 i = 0; i < errors.size(); ++i) {
        f64 leverage = 0;
        for (const std::vector<f64> &q : basis)
            leverage += q[i] * q[i];
        out.push_back(leverage < 1 - negligible ? errors[i] / (1 - leverage) : errors[i]);
    }
    return out;
}

} // namespace nw::bench

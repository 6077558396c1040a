// SPDX-License-Identifier: MIT
#include "bench/fit.h"

#include <array>
#include <cmath>

#include "base/error.h"

namespace nw::bench {

namespace {

f64 dot(std::span<const f64> a, std::span<const f64> b) {
    f64 sum = 0;
    for (u64 i = 0; i < a.size(); ++i)
        sum += a[i] * b[i];
    return sum;
}

} // namespace

// Minimizes sum ((t0 + s * bytes - us) / us)^2: normal equations of two unknowns, weights 1 / us^2.
Line fit_line(std::span<const Point> points) {
    f64 w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
    for (const Point &p : points) {
        const f64 weight = 1 / (p.us * p.us);
        w += weight;
        wx += weight * p.bytes;
        wxx += weight * p.bytes * p.bytes;
        wy += weight * p.us;
        wxy += weight * p.bytes * p.us;
    }
    const f64 determinant = w * wxx - wx * wx;
    if (!(determinant > 1e-12 * w * wxx))
        throw Error("a line needs two points of different sizes");
    return {(wy * wxx - wxy * wx) / determinant, (w * wxy - wx * wy) / determinant};
}

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

// Relative errors are linear in t0 and in the time of a byte, so that left_out() is exact.
std::vector<f64> leave_one_out(std::span<const Point> points) {
    const Line line = fit_line(points);
    std::vector<f64> errors;
    std::array<std::vector<f64>, 2> derivatives;
    for (const Point &p : points) {
        errors.push_back(error_pct(line.at(p.bytes), p.us));
        derivatives[0].push_back(1 / p.us);
        derivatives[1].push_back(p.bytes / p.us);
    }
    return left_out(errors, derivatives);
}

Errors100 summarize(std::span<const f64> error_pct) {
    Errors100 out;
    for (f64 e : error_pct) {
        out.mean += e / static_cast<f64>(error_pct.size());
        out.mape += std::fabs(e) / static_cast<f64>(error_pct.size());
        if (std::fabs(e) > std::fabs(out.worst))
            out.worst = e;
    }
    return out;
}

} // namespace nw::bench

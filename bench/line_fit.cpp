// SPDX-License-Identifier: MIT
#include "bench/line_fit.h"

#include <cmath>

#include "base/error.h"

namespace nw::bench {

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

std::vector<f64> leave_one_out(std::span<const Point> points) {
    std::vector<f64> out;
    for (u64 i = 0; i < points.size(); ++i) {
        std::vector<Point> others(points.begin(), points.end());
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        out.push_back(fit_line(others).at(points[i].bytes));
    }
    return out;
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

// SPDX-License-Identifier: MIT
#include "ref/rms_norm.h"

#include <cmath>

#include "ref/need_size.h"

namespace nw::ref {

std::vector<f64> rms_norm(std::span<const f32> x, std::span<const f32> w, u32 m, u32 k, f32 eps) {
    need_size("x", x.size(), u64{m} * k);
    if (!w.empty())
        need_size("w", w.size(), k);
    std::vector<f64> y;
    y.reserve(x.size());
    for (u64 row = 0; row < m; ++row) {
        f64 sum = 0;
        for (u64 i = 0; i < k; ++i)
            sum += f64{x[row * k + i]} * x[row * k + i];
        const f64 root = std::sqrt(sum / k + f64{eps});
        for (u64 i = 0; i < k; ++i)
            y.push_back(x[row * k + i] / root * (w.empty() ? 1.0 : f64{w[i]}));
    }
    return y;
}

} // namespace nw::ref

// SPDX-License-Identifier: MIT
#include "ref/ssm_conv.h"

#include <cmath>

#include "ref/need_size.h"

namespace nw::ref {

std::vector<f64> ssm_conv_sums(const SsmConv &p, std::span<const f32> x, std::span<const f32> w,
                               std::span<const f32> bias, bool magnitudes) {
    const u64 row = u64{p.tokens} + p.taps - 1;
    need_size("x", x.size(), p.b * p.n * row);
    need_size("w", w.size(), u64{p.n} * p.taps);
    if (!bias.empty())
        need_size("bias", bias.size(), p.n);
    const auto size = [&](f64 value) { return magnitudes ? std::fabs(value) : value; };
    std::vector<f64> z;
    for (u64 i = 0; i < p.b; ++i)
        for (u64 t = 0; t < p.tokens; ++t)
            for (u64 c = 0; c < p.n; ++c) {
                f64 sum = 0;
                for (u64 j = 0; j < p.taps; ++j)
                    sum += size(f64{x[(i * p.n + c) * row + t + j]} * w[c * p.taps + j]);
                z.push_back(sum + (bias.empty() ? 0 : size(bias[c])));
            }
    return z;
}

} // namespace nw::ref

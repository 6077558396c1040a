// SPDX-License-Identifier: MIT
#include "ref/router.h"

#include <cmath>

#include "ref/need_size.h"
#include "ref/rms_norm.h"

namespace nw::ref {

Logits router(std::span<const f32> x, std::span<const f32> norm, std::span<const f32> w,
              std::span<const f32> bias, u32 experts, f32 eps) {
    const u64 k = x.size();
    need_size("w", w.size(), experts * k);
    const std::vector<f64> y = norm.empty() ? std::vector<f64>(x.begin(), x.end())
                                            : rms_norm(x, norm, 1, static_cast<u32>(k), eps);
    Logits out;
    for (u64 e = 0; e < experts; ++e) {
        f64 sum = bias.empty() ? 0 : bias[e], size = std::fabs(sum);
        for (u64 i = 0; i < k; ++i) {
            sum += y[i] * w[e * k + i];
            size += std::fabs(y[i] * w[e * k + i]);
        }
        out.values.push_back(sum);
        out.sizes.push_back(size);
    }
    return out;
}

} // namespace nw::ref

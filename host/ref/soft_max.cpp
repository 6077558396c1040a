// SPDX-License-Identifier: MIT
#include "ref/soft_max.h"

#include <bit>
#include <cmath>

#include "ref/need_size.h"

namespace nw::ref {

f64 alibi_slope(f64 max_bias, u32 heads, u32 head) {
    const u32 low = std::bit_floor(heads);
    const f64 power = head < low ? head + 1.0 : head - low + 0.5;
    return std::exp2(-max_bias * power / low);
}

std::vector<f64> soft_max_logits(const SoftMax &p) {
    const u64 k = p.n[0], rows = u64{p.n[1]} * p.n[2] * p.n[3];
    need_size("x", p.x.size(), rows * k);
    if (!p.mask.empty())
        need_size("mask", p.mask.size(), u64{p.n[1]} * p.mask_n2 * p.mask_n3 * k);
    std::vector<f64> z(p.x.size());
    for (u64 row = 0; row < rows; ++row) {
        const u64 i1 = row % p.n[1], i2 = row / p.n[1] % p.n[2], i3 = row / p.n[1] / p.n[2];
        const u64 of_mask = (i3 % p.mask_n3 * p.mask_n2 + i2 % p.mask_n2) * p.n[1] + i1;
        const f64 slope = alibi_slope(p.max_bias, p.n[2], static_cast<u32>(i2));
        for (u64 i = 0; i < k; ++i) {
            z[row * k + i] = f64{p.scale} * p.x[row * k + i];
            if (!p.mask.empty())
                z[row * k + i] += slope * p.mask[of_mask * k + i];
        }
    }
    return z;
}

std::vector<f64> soft_max(const SoftMax &p) {
    if (!p.sinks.empty())
        need_size("sinks", p.sinks.size(), p.n[2]);
    std::vector<f64> z = soft_max_logits(p);
    const u64 k = p.n[0];
    for (u64 row = 0; row < z.size() / k; ++row) {
        const std::span<f64> own(&z[row * k], k);
        const f64 sink = p.sinks.empty() ? -INFINITY : p.sinks[row / p.n[1] % p.n[2]];
        f64 most = sink, sum = 0;
        for (const f64 one : own)
            most = std::fmax(most, one);
        for (f64 &one : own)
            sum += one = std::exp(one - most); // NaN of -inf - -inf
        sum += p.sinks.empty() ? 0 : std::exp(sink - most);
        for (f64 &one : own)
            one /= sum;
    }
    return z;
}

} // namespace nw::ref

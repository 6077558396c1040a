// SPDX-License-Identifier: MIT
#include "formats/quantize.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "base/parallel.h"

namespace nw {

namespace {

// s of one group, before rounding; NaN or infinite if a weight is.
f64 group_scale(std::span<const f32> w) {
    f32 low = 0, high = 0, poison = 0;
    for (f32 x : w) {
        low = std::min(low, x);
        high = std::max(high, x);
        poison += x * 0; // min and max drop NaN: this propagates it
    }
    return std::max(f64{high} / 7, f64{low} / -8) + poison;
}

// Nearest even for |x| < 2^51: adding 1.5 * 2^52 rounds away the fraction.
f64 round_even(f64 x) { return (x + 0x1.8p52) - 0x1.8p52; }

} // namespace

void quantize_row(std::span<const f32> w, u32 group, Dtype dtype, std::span<u8> q,
                  std::span<u16> s) {
    for (std::size_t g = 0; g < s.size(); ++g) {
        const std::span<const f32> from = w.subspan(g * group, group);
        const std::span<u8> to = q.subspan(g * group, group);
        const f64 wanted = group_scale(from);
        s[g] = round_to(dtype, wanted);
        const f64 scale = to_f32(dtype, s[g]);
        if (!std::isfinite(wanted))
            throw Error(fmt::format("group {}: holds a weight that is not finite; quantization "
                                    "needs finite weights",
                                    g));
        if (!std::isfinite(scale))
            throw Error(fmt::format("group {}: scale {} is above the range of {}; use bf16 scales "
                                    "or smaller weights",
                                    g, wanted, name(dtype)));
        if (scale == 0) {
            std::ranges::fill(to, u8{8});
            continue;
        }
        // A quotient of 24 by at most 11 bits can't round onto a tie in double, so this is exact.
        for (u32 i = 0; i < group; ++i)
            to[i] = static_cast<u8>(round_even(std::clamp(from[i] / scale, -8.0, 7.0)) + 8);
    }
}

Quantized quantize_rows(std::span<const f32> w, u32 n, u32 k, u32 group, Dtype dtype) {
    if (group == 0 || k == 0 || k % group)
        throw Error(
            fmt::format("k = {}: must be a positive multiple of the group size {}", k, group));
    if (w.size() != u64{n} * k)
        throw Error(fmt::format("weights have {} elements, need {} (N*K)", w.size(), u64{n} * k));
    const u64 groups = k / group;
    Quantized out{std::vector<u8>(w.size()), std::vector<u16>(n * groups)};
    parallel_for(n, 1 + (1 << 16) / k, [&](u64 begin, u64 end) {
        for (u64 row = begin; row < end; ++row)
            quantize_row(w.subspan(row * k, k), group, dtype, std::span(out.q).subspan(row * k, k),
                         std::span(out.s).subspan(row * groups, groups));
    });
    return out;
}

} // namespace nw

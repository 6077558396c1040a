// SPDX-License-Identifier: MIT
#include "ref/quantize_rows.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "ref/e4m3.h"

namespace nw::ref {

namespace {

// max |x| of a row, or NaN if a value is not finite.
f32 largest(Dtype dtype, std::span<const u16> row) {
    f32 out = 0;
    for (u16 word : row) {
        const f32 x = std::fabs(to_f32(dtype, word));
        if (!std::isfinite(x))
            return NAN;
        out = std::max(out, x);
    }
    return out;
}

f32 scale_of(f32 largest, f32 largest_code) {
    const f32 scale = largest * (1 / largest_code);
    return scale < 0x1p-126f ? 0 : scale;
}

} // namespace

QuantizedRows quantize_rows(Dtype dtype, std::span<const u16> x, u32 m, u32 k) {
    if (x.size() != u64{m} * k)
        throw Error(fmt::format("x has {} elements, not {} x {}", x.size(), m, k));
    QuantizedRows out;
    for (u32 row = 0; row < m; ++row) {
        const std::span<const u16> values = x.subspan(u64{row} * k, k);
        const f32 scale = scale_of(largest(dtype, values), 127);
        const bool zeros = std::isnan(scale) || scale == 0;
        out.scale.push_back(scale);
        for (u16 word : values) {
            const f64 product = zeros ? 0.0 : f64{to_f32(dtype, word)} * (1 / scale);
            out.q.push_back(static_cast<i8>(std::nearbyint(product)));
        }
    }
    return out;
}

Fp8Rows quantize_fp8(Dtype dtype, std::span<const u16> x, u32 m, u32 k) {
    if (x.size() != u64{m} * k)
        throw Error(fmt::format("x has {} elements, not {} x {}", x.size(), m, k));
    Fp8Rows out;
    for (u32 row = 0; row < m; ++row) {
        const std::span<const u16> values = x.subspan(u64{row} * k, k);
        const f32 scale = scale_of(largest(dtype, values), 448);
        const f32 reciprocal = std::isnan(scale) || scale == 0 ? 0 : 1 / scale;
        out.scale.push_back(scale);
        for (u16 word : values)
            out.y.push_back(to_e4m3(to_f32(dtype, word) * reciprocal));
    }
    return out;
}

std::vector<i8> in_dword_order(std::span<const i8> q) {
    std::vector<i8> out;
    for (u64 at = 0; at < q.size(); at += 8)
        for (u64 k : {0, 4, 1, 5, 2, 6, 3, 7})
            out.push_back(q[at + k]);
    return out;
}

} // namespace nw::ref

// SPDX-License-Identifier: MIT
#include "ref/prefill_w4a8.h"

#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"

namespace nw::ref {

namespace {

// sum a * (q - z) of a group of row m of a and row n of w.
i32 group_sum(const ProductW4A8 &p, u64 m, u64 n, u64 g) {
    const DecodeW4A16 &w = p.w;
    const u64 groups = w.k / w.group;
    const i32 zero = w.z.empty() ? 8 : static_cast<i32>(to_f32(w.dtype, w.z[n * groups + g]));
    i32 sum = 0;
    for (u64 k = g * w.group; k < (g + 1) * w.group; ++k)
        sum += p.a[m * w.k + k] * (w.q[n * w.k + k] - zero);
    return sum;
}

f32 result(const ProductW4A8 &p, u64 m, u64 n) {
    const DecodeW4A16 &w = p.w;
    const u64 groups = w.k / w.group;
    const u64 first = 64 * (m / p.starts.rows % p.starts.raster) * p.starts.rotate / w.group;
    f32 sum = 0;
    for (u64 i = 0; i < groups; ++i) {
        const u64 g = (first + i) % groups;
        const f32 scale = to_f32(w.dtype, w.s[n * groups + g]);
        sum = std::fma(static_cast<f32>(group_sum(p, m, n, g)), scale, sum);
    }
    const f32 scaled = sum * p.a_scale[m];
    return w.bias.empty() ? scaled : scaled + to_f32(w.dtype, w.bias[n]);
}

} // namespace

std::vector<f32> prefill_w4a8(const ProductW4A8 &p) {
    const DecodeW4A16 &w = p.w;
    const u64 scales = u64{w.n} * (w.k / w.group);
    if (p.a.size() != u64{w.m} * w.k || p.a_scale.size() != w.m || w.q.size() != u64{w.n} * w.k ||
        w.s.size() != scales || (!w.z.empty() && w.z.size() != scales))
        throw Error(fmt::format("sizes do not match m = {}, n = {}, k = {}", w.m, w.n, w.k));
    std::vector<f32> out;
    for (u64 m = 0; m < w.m; ++m)
        for (u64 n = 0; n < w.n; ++n)
            out.push_back(result(p, m, n));
    return out;
}

} // namespace nw::ref

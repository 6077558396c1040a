// SPDX-License-Identifier: MIT
#include "ref/decode.h"

#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "base/parallel.h"
#include "ref/need_size.h"
#include "ref/running_sums.h"

namespace nw::ref {

namespace {

void check(const DecodeW4A16 &p) {
    if (p.group == 0 || p.group % 4)
        throw Error(fmt::format("group = {}: must be a positive multiple of 4", p.group));
    if (p.k % p.group)
        throw Error(fmt::format("k = {}: must be a multiple of the group size {}", p.k, p.group));
    need_size("a", p.a.size(), u64{p.m} * p.k);
    need_size("q", p.q.size(), u64{p.n} * p.k);
    need_size("s", p.s.size(), u64{p.n} * (p.k / p.group));
    if (!p.z.empty())
        need_size("z", p.z.size(), p.s.size());
    if (!p.bias.empty())
        need_size("bias", p.bias.size(), p.n);
}

// One row of A, widened.
std::vector<f64> widen(const DecodeW4A16 &p, u32 m) {
    std::vector<f64> out(p.k);
    for (u32 k = 0; k < p.k; ++k)
        out[k] = to_f32(p.dtype, p.a[u64{m} * p.k + k]);
    return out;
}

// sum |a| of each group of one row of A.
std::vector<f64> group_sums(const std::vector<f64> &a, u32 group) {
    std::vector<f64> out(a.size() / group);
    for (std::size_t k = 0; k < a.size(); ++k)
        out[k / group] += std::fabs(a[k]);
    return out;
}

struct Sums {
    f64 value = 0, magnitude = 0;
};

// sum a * (q - zero) and sum |a * (q - zero)| over one group.
Sums group_dot(const f64 *a, const u8 *q, f64 zero, u32 group) {
    RunningSums value, magnitude;
    for (u32 k = 0; k < group; k += RunningSums::count)
        for (u32 i = 0; i < RunningSums::count; ++i) {
            const f64 term = a[k + i] * (q[k + i] - zero);
            value.add(i, term);
            magnitude.add(i, std::fabs(term));
        }
    return {value.total(), magnitude.total()};
}

} // namespace

DecodeResult decode_w4a16(const DecodeW4A16 &p) {
    check(p);
    const u64 outputs = u64{p.m} * p.n, groups = p.k / p.group;
    DecodeResult r{std::vector<f64>(outputs), std::vector<f64>(outputs), std::vector<f64>(outputs)};
    for (u32 m = 0; m < p.m; ++m) {
        const std::vector<f64> a = widen(p, m);
        const std::vector<f64> a_sums = group_sums(a, p.group);
        parallel_for(p.n, 1 + (1 << 16) / p.k, [&](u64 begin, u64 end) {
            for (u64 n = begin; n < end; ++n) {
                f64 c = 0, terms = 0, offsets = 0;
                for (u64 g = 0; g < groups; ++g) {
                    const f64 s = to_f32(p.dtype, p.s[n * groups + g]);
                    const f64 zero = p.z.empty() ? 8 : to_f32(p.dtype, p.z[n * groups + g]);
                    const u64 k = g * p.group;
                    const Sums dot = group_dot(&a[k], &p.q[n * p.k + k], zero, p.group);
                    c += dot.value * s;
                    terms += dot.magnitude * std::fabs(s);
                    offsets += a_sums[g] * std::fabs(s);
                }
                const f64 bias = p.bias.empty() ? 0 : to_f32(p.dtype, p.bias[n]);
                r.c[u64{m} * p.n + n] = c + bias;
                r.terms[u64{m} * p.n + n] = terms + std::fabs(bias);
                r.offsets[u64{m} * p.n + n] = offsets;
            }
        });
    }
    return r;
}

} // namespace nw::ref

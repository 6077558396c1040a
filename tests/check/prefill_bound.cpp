// SPDX-License-Identifier: MIT
#include "check/prefill_bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/half.h"
#include "base/targets.h"
#include "check/near.h"

namespace nw::check {

namespace {

constexpr f64 u = 0x1p-24; // half an ulp of 1 in f32

// sum_k |a| of every row of A.
std::vector<f64> activation_sums(const ref::DecodeW4A16 &p) {
    std::vector<f64> out(p.m);
    for (u64 i = 0; i < p.a.size(); ++i)
        out[i / p.k] += std::fabs(to_f32(p.dtype, p.a[i]));
    return out;
}

// sum_k |(q - z) * s| of every row of w.
std::vector<f64> weight_sums(const ref::DecodeW4A16 &p) {
    const u64 groups = p.k / p.group;
    std::vector<f64> out(p.n);
    for (u64 i = 0; i < p.q.size(); ++i) {
        const u64 n = i / p.k, at = n * groups + i % p.k / p.group;
        const f64 zero = p.z.empty() ? 8 : to_f32(p.dtype, p.z[at]);
        out[n] += std::fabs((p.q[i] - zero) * to_f32(p.dtype, p.s[at]));
    }
    return out;
}

f64 largest_zero(const ref::DecodeW4A16 &p) {
    f64 out = p.z.empty() ? 8 : 0;
    for (u16 z : p.z)
        out = std::max(out, f64{to_f32(p.dtype, z)});
    return out;
}

bool with_wmma(const Kernel &kernel) { return !kernel.family.starts_with("dot_"); }

// How products are added: errors of u each in terms of sum P and of T, and what small factors lose.
struct Sums {
    f64 products, sums;
    f64 least;   // a smaller factor counts as this
    f64 dropped; // of a product of such a factor
};

Sums sums_of(const Kernel &kernel, f64 k) {
    const bool bf16 = kernel.param("dtype") == "bf16";
    if (with_wmma(kernel) && bf16)
        return {7, 7. / 8 * k + 1, 0x1p-126, 1};
    if (with_wmma(kernel) || (!bf16 && target_of(kernel.gfx).dot2))
        return {7, 7. / 8 * k + 1, 0x1p-14, 7 * u};
    return {0, k + 1, 0, 0};
}

// Effect of rounding the weights on an output.
f64 weights_off(const Kernel &kernel, f64 terms, f64 offsets, f64 a_sum, f64 zero) {
    if (kernel.param("dtype") == "bf16" && !with_wmma(kernel))
        return 0;
    if (kernel.param("dtype") == "bf16")
        return 0x1p-8 * terms + 16 * 0x1p-126 * a_sum;
    if (kernel.param("zeros") != "carrier")
        return 0x1p-11 * terms + 0x1p-25 * a_sum;
    const f64 bias_off = 0x1p-11 * zero * offsets + 0x1p-25 * a_sum;
    return bias_off + 0x1p-11 * (terms + bias_off) + 0x1p-25 * a_sum;
}

} // namespace

// Weights. f16: (q - z) * s is rounded once, 2^-11 of itself or, where it is subnormal, 2^-25. In
// the carrier z * s is too, before: its error joins those of q * s - z * s. bf16, of 8 bits: 2^-8
// of itself; where s is subnormal f32 arithmetic takes it as zero, less than 16 * 2^-126. f16
// weights must not leave the range, bf16 ones must leave room for 2^20 in f32 (scales below 2^108).
//
// Sums. A step of WMMA (S-004) puts products and C on a grid 2^g, g = max(exponents of a product's
// factors, added, - 24; leading exponent of C - 26), u = 2^-24:
//
//     2^g  <=  u * P + u/4 * |C|      P = |a * w| of the largest, where a subnormal f16 factor
//                                     counts as 2^-14
//
// gfx11 adds two products in a step, and drops at most 2^g of three terms; gfx12 adds four, drops
// 2^g of each, of two sums of pairs and of C. Then the sum is rounded, u of itself. With T, the
// largest that C may be, over K/2 steps of 1.75u T, or K/4 of 2.75u T:
//
//     7u * sum P + 7/8 K u * T,   T = (terms + what weights add) * (1 + K u) + what is below
//
// in any order of k. gfx11 takes bf16 subnormals as zero, and results below 2^-126. Then the bias,
// and SiLU as moe_w4a16 has it.
//
// dot_w4a16 has no WMMA. DOT2 adds pairs as gfx11's WMMA does. Without it, and in bf16, whose
// weights are exact in f32, each product is a multiply-add in f32: K steps of u T.
std::vector<f64> prefill_bound(const Kernel &kernel, const ref::DecodeW4A16 &p,
                               const ref::PrefillResult &r) {
    const std::vector<f64> a_sums = activation_sums(p), w_sums = weight_sums(p);
    const f64 zero = largest_zero(p), k = p.k;
    const Sums sums = sums_of(kernel, k);
    std::vector<f64> y(r.y.c.size());
    for (u64 i = 0; i < y.size(); ++i) {
        const f64 a = a_sums[i / p.n], w = w_sums[i % p.n];
        const f64 weights = weights_off(kernel, r.y.terms[i], r.y.offsets[i], a, zero);
        const f64 terms = (r.y.terms[i] + weights) * (1 + k * u);
        const f64 below = sums.least * (a + w) + k * sums.least * sums.least; // of sum P
        const f64 dropped = sums.dropped * below + k * 0x1p-126;
        y[i] = weights + (sums.products + sums.sums) * u * (terms + dropped) + dropped;
    }
    return bound_of_c(r, p.n, std::move(y));
}

} // namespace nw::check

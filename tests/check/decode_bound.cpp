// SPDX-License-Identifier: MIT
#include "check/decode_bound.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"

namespace nw::check {

namespace {

// A dequantization method, in units of one weight step.
struct Dequant {
    std::string_view dtype, name;
    f64 offset;           // added to q - 8, and subtracted again as offset * sum(a)
    f64 operand;          // the largest magnitude that DOT2 sees in place of q - 8
    bool scaled = false;  // activations are f16 over a power of two
    u32 f16_products = 0; // of which sums are f16
};

Dequant dequant(const Kernel &kernel) {
    // clang-format off
    static constexpr Dequant ways[] = {
        {"bf16", "perm",      136,  143},  // 128 + n
        {"bf16", "magic",     136,  143},  // 128 + n
        {"bf16", "f32",       0,    8},    // n - 8
        {"f16",  "subnormal", 8,    1024}, // n * 2^-24, but DOT2 counts a subnormal's exponent as -14
        {"f16",  "magic",     1032, 1039}, // 1024 + n; (1024 + 16 n) / 16 is smaller
        {"f16",  "pk",        0,    8},    // n - 8
        {"bf16", "scaled",    0,    8,    true},
        {"bf16", "packed",    0,    8,    true, 8},
        {"f16",  "packed",    0,    8,    true, 8},
    };
    // clang-format on
    for (Dequant way : ways) {
        if (way.dtype != kernel.param("dtype") || way.name != kernel.param("dequant"))
            continue;
        if (kernel.param("zeros").starts_with("z")) { // zero points 0..15 in place of 8
            way.offset += way.offset ? 7 : 0;
            way.operand = way.offset ? way.operand : 15;
        }
        return way;
    }
    throw Error(fmt::format("dequant '{}' of {}: its error bound is not known; add a row in {}",
                            kernel.param("dequant"), kernel.symbol, __FILE__));
}

// Bound for a row that is summed before it is scaled, spread over 32 lanes.
u32 k_per_step(const Kernel &kernel) { return kernel.family == "splitk_w4a16" ? 512 : 1024; }

} // namespace

// Why this much. u = 2^-24, half an ulp of 1 in f32; o and d are the dequantization's offset and
// largest operand.
//
// DOT2 adds C + p0 + p1 on a grid 2^g, g = max(exponents of the factors of a product, added, - 24;
// leading exponent of C, p0, p1, - 26). It drops less than 2^g from each of the three (four drops
// on gfx12, whose products meet first) and rounds to 24 bits. With P = |a| * d, which bounds both
// the products and what the exponents of their factors stand for, one DOT2 is off by less than
//
//     4 * 2^g + u * |result|  <=  4u * max(P0, P1) + u * |C| + u * |result|.
//
// Where rows have zero points z, read z for 8; o and d are then those of the largest z, 15, and
// what is taken off, (128 + z) * sum(a) or z * sum(a), is one multiplication in f32 in the kernel
// as in o * sum(a), and 128 + z is exact. A scale for the whole row multiplies the sum of all steps
// instead of each: as many roundings of a term.
//
// The first terms of all steps add up to 4u * d * sum |a s|; the same for the sums of activations,
// multiplied by o: together 4u * (d + o) * offsets. For the others: what a kernel holds on the way
// is a sum of some a * (q - 8 + o) minus some a * o, so that, scaled,
//
//     |C|, |result|  <=  T = terms + 2 * o * offsets.
//
// A lane takes 32 weights of a row per step of 1024 k, all of one group: a chain has at most 16
// DOT2 of 2u * T each, or 32 fmacs of u * T: 32u * T; in splitk_w4a16 16 weights per 512 k, 16u *
// T. Then at most: joining low and high nibbles, taking off o * sum(a), the scale (3 roundings);
// one addition per step; five to join 32 lanes; the bias. 16 stand for 3 + 5 + 1 and for the
// second-order terms of everything above. With S = 1024 or 512 k a step:
//
//     |C - exact|  <=  u * (4 * (d + o) * offsets + (S / 32 + 16 + ceil(K / S)) * T) + floor
//
// Where activations are scaled, the largest of 32 is at least 2 of f16 and 2^6 of bf16, unless it
// is subnormal or less than 2^-120, where nothing is lost. Those below 2^-14 are then off by 2^-25,
// rounded, and are multiplied by d at most. That is for 32 of them 32 d * 2^-25 <= 8 u d * max|a|
// of f16, and less than u d * max|a| of bf16. The power of two is exact.
//
// Where sums of L products are f16, each of the L operations rounds by 2^-11 of its result at most,
// which the sum of magnitudes bounds, or by 2^-25 below 2^-14: together L * 2^-11 * 1.01 * terms
// and, as above, the error of d = 1. L counts products of even and of odd k separately. The sums
// stay below 2^7 * 15 * 8 < 65504. Two roundings to f32 follow each.
//
// The floor is for what lies below the normal numbers, K times the largest scale: partial results
// flushed below 2^-126; in bf16 a subnormal activation that gfx11's DOT2 takes as zero, less than
// 2^-126 * d; in f16 one whose exponent it counts as -14, which coarsens the grid to
// 4u * 2^-14 * (d + o).
std::vector<f64> decode_bound(const Kernel &kernel, const ref::DecodeW4A16 &p,
                              const ref::DecodeResult &r) {
    const auto [dtype, name, o, d, scaled, f16_products] = dequant(kernel);
    f64 largest_scale = 0;
    for (u16 s : p.s)
        if (const f64 x = std::fabs(to_f32(p.dtype, s)); std::isfinite(x))
            largest_scale = std::max(largest_scale, x);
    constexpr f64 u = 0x1p-24;
    const f64 subnormal = p.dtype == Dtype::bf16 ? 0x1p-126 * d : 4 * u * 0x1p-14 * (d + o);
    const f64 of_scaling = scaled ? u * (d + 1) * (p.dtype == Dtype::bf16 ? 1 : 8) : 0;
    const f64 of_f16 = f16_products * 0x1p-11 * 1.01;
    const f64 floor = p.k * (0x1p-126 + (0x1p-126 + subnormal) * largest_scale);
    const u32 step = k_per_step(kernel);
    const f64 roundings = step / 32 + 16 + ceil_div(p.k, step);
    std::vector<f64> out(r.c.size());
    for (u64 i = 0; i < out.size(); ++i)
        out[i] =
            u * (4 * (d + o) * r.offsets[i] + roundings * (r.terms[i] + 2 * o * r.offsets[i])) +
            of_scaling * r.offsets[i] + of_f16 * r.terms[i] + floor;
    return out;
}

} // namespace nw::check

// SPDX-License-Identifier: MIT
#include "check/mid_bound.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/half.h"
#include "check/near.h"

namespace nw::check {

// Weights are exact: f16 multiplies with q - z, of at most 15, or 8 without zero points; bf16 with
// 128 + q, of at most 143, and takes (128 + z) * sum(a) off again. Let d be the largest operand, o
// the largest offset that is subtracted (f16: none), and u = 2^-24.
//
// A step of WMMA (S-004; tests/check/prefill_bound.cpp) is off by 7u * |a| * d for each product,
// and by 7/8 u of the largest partial sum for each k. A group's sum, scaled, stays within
//
//     T = terms + 2 * o * offsets
//
// as decode_bound.cpp has it: (7/8 G u) T + 7u * d * offsets. The sums of activations: a lane adds
// G/2 pairs at most, each off by 4u |a| and 2u of what there is; with joining two or four of them,
// times o, 4u * o * offsets + (G + 4) u * T / 2. Then the subtraction, the scale, one sum of K/G
// groups or fewer, that of eight waves, the bias: 2 + K/G + 8 + 1, and 5 for the second-order
// terms.
//
// The floor: as in decode_bound.cpp, with 7u for 4u. SiLU(gate) * up: near.h.
std::vector<f64> mid_bound(const Kernel &, const ref::DecodeW4A16 &p, const ref::PrefillResult &r) {
    const bool bf16 = p.dtype == Dtype::bf16;
    const f64 o = !bf16 ? 0 : p.z.empty() ? 136 : 143, d = bf16 ? 143 : p.z.empty() ? 8 : 15;
    constexpr f64 u = 0x1p-24;
    f64 largest_scale = 0;
    for (u16 s : p.s)
        if (const f64 x = std::fabs(to_f32(p.dtype, s)); std::isfinite(x))
            largest_scale = std::max(largest_scale, x);
    const f64 subnormal = bf16 ? 0x1p-126 * (d + o) : 7 * u * 0x1p-14 * d;
    const f64 floor = p.k * (0x1p-126 + (0x1p-126 + subnormal) * largest_scale);
    const f64 g = p.group, roundings = g * 7 / 8 + (g + 4) / 2 + p.k / g + 16;
    std::vector<f64> y(r.y.c.size());
    for (u64 i = 0; i < y.size(); ++i)
        y[i] = u * ((7 * d + 4 * o) * r.y.offsets[i] +
                    roundings * (r.y.terms[i] + 2 * o * r.y.offsets[i])) +
               floor;
    return bound_of_c(r, p.n, std::move(y));
}

} // namespace nw::check

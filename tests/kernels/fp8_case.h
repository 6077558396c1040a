// SPDX-License-Identifier: MIT
// Helpers shared by the tests of products of fp8 activations.
#pragma once
#include <cmath>
#include <vector>

#include "base/half.h"
#include "check/check.h"
#include "ref/e4m3.h"
#include "ref/quantize_rows.h"

namespace nw::check {

// Whether sums of a product round.
enum class Sums { rounded, exact };

// NaN where the scale of a row is.
inline bool right(f32 got, f64 want, f64 tolerance, Sums sums) {
    if (std::isnan(want))
        return std::isnan(got);
    return sums == Sums::exact ? got == static_cast<f32>(want) : std::fabs(got - want) <= tolerance;
}

// Normal numbers quantized by quantize_fp8's reference.
inline ref::Fp8Rows fp8_activations(Rng &rng, u32 rows, u32 k) {
    std::vector<u16> x(u64{rows} * k);
    for (u16 &v : x)
        v = round_to(Dtype::f16, rng.normal());
    return ref::quantize_fp8(Dtype::f16, x, rows, k);
}

// Whole numbers from -7 to 7.
inline u8 small_integer(Rng &rng) { return ref::to_e4m3(static_cast<f64>(rng.below(15)) - 7); }
// Exponent of a block such that, with small_integer() activations, no sum rounds.
inline u8 near_power(Rng &rng) { return static_cast<u8>(124 + rng.below(4)); }

} // namespace nw::check

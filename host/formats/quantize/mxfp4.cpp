// SPDX-License-Identifier: MIT
#include "formats/quantize/mxfp4.h"

#include <algorithm>
#include <cmath>

namespace nw {

namespace {

constexpr i32 e8m0_bias = 127, largest_e = 252; // 6 * 2^125 is within f32
constexpr i32 e2m1_emax = 2;                    // of 4 and 6

// The magnitude's code, nearest, ties to the even code: the bounds between two are half way.
u8 e2m1_magnitude(f64 x) {
    return static_cast<u8>((x > 0.25) + (x >= 0.75) + (x > 1.25) + (x >= 1.75) + (x > 2.5) +
                           (x >= 3.5) + (x > 5));
}

u8 e2m1_code(f64 x) {
    const u8 code = e2m1_magnitude(std::fabs(x));
    return static_cast<u8>(x < 0 && code ? code | 8 : code);
}

// In units of the scale, so that no square leaves the range.
f64 squared_error(std::span<const f32> w, i32 e) {
    const f64 inverse = std::ldexp(1.0, e8m0_bias - e);
    f64 sum = 0;
    for (f32 x : w) {
        const f64 d = x * inverse - e2m1_value(e2m1_code(x * inverse));
        sum += d * d;
    }
    return sum;
}

i32 best_exponent(std::span<const f32> w, i32 e) {
    i32 best = e;
    f64 least = squared_error(w, e);
    for (i32 other : {e - 1, e + 1}) {
        if (other < 0 || other > largest_e)
            continue;
        const f64 error = std::ldexp(squared_error(w, other), 2 * (other - e));
        if (error < least)
            least = error, best = other;
    }
    return best;
}

} // namespace

f32 e2m1_value(u8 code) {
    constexpr f32 values[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    return code & 8 ? -values[code & 7] : values[code & 7];
}

Mxfp4Block quantize_mxfp4(std::span<const f32> w, Clip clip) {
    Mxfp4Block out{};
    f32 largest = 0;
    for (f32 x : w)
        largest = std::max(largest, std::fabs(x));
    if (largest == 0)
        return out;
    i32 e = std::clamp(std::ilogb(largest) - e2m1_emax + e8m0_bias, 0, largest_e);
    if (clip == Clip::mse)
        e = best_exponent(w, e);
    out.e = static_cast<u8>(e);
    const f64 inverse = std::ldexp(1.0, e8m0_bias - e);
    for (u32 i = 0; i < Mxfp4Block::elements; ++i)
        out.codes[i] = e2m1_code(w[i] * inverse);
    return out;
}

} // namespace nw

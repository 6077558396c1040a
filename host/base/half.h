// SPDX-License-Identifier: MIT
// bfloat16 and IEEE binary16 as 16-bit patterns: conversions (round to nearest even, NaN stays NaN)
// and ulp size. Patterns are u16, so that a buffer has one element type for every Dtype.
#pragma once
#include <bit>
#include <string_view>

#include "base/types.h"

namespace nw {

// A binary format of 16 bits: one sign bit, `exponent` bits, `mantissa` bits.
template <int ExponentBits, int MantissaBits> struct Float16 {
    static constexpr int mantissa = MantissaBits;
    static constexpr int bias = (1 << (ExponentBits - 1)) - 1;
    static constexpr int emin = 1 - bias; // exponent of the smallest normal number
    static constexpr u16 infinity = ((1 << ExponentBits) - 1) << MantissaBits;
    static constexpr u16 quiet = 1 << (MantissaBits - 1);

    // One rounding from double, to nearest even; a NaN keeps its top payload bits and is quieted.
    // f32 widens to f64 exactly, so this serves both.
    static constexpr u16 narrow(f64 x) {
        const u64 bits = std::bit_cast<u64>(x);
        const u16 sign = static_cast<u16>(bits >> 48 & 0x8000);
        const int field = static_cast<int>(bits >> 52 & 0x7ff);
        const u64 fraction = bits & ((u64{1} << 52) - 1);
        if (field == 0x7ff) {
            const u16 payload = static_cast<u16>(fraction >> (52 - MantissaBits));
            return sign | infinity | (fraction ? static_cast<u16>(quiet | payload) : u16{0});
        }
        const int e = field - 1023;
        const u64 m = fraction | (field ? u64{1} << 52 : 0);
        const int drop = 52 - MantissaBits + (e < emin ? emin - e : 0); // bits below our grid
        if (drop >= 54) // less than half of the smallest subnormal
            return sign;
        const u64 kept = m >> drop, rest = m & ((u64{1} << drop) - 1), half = u64{1} << (drop - 1);
        const u64 rounded = kept + (rest > half || (rest == half && (kept & 1)));
        // The leading one of a normal number adds 1 to the exponent field; so does a carry.
        const u64 word = rounded + (e < emin ? 0 : static_cast<u64>(e - emin) << MantissaBits);
        return sign | (word > infinity ? infinity : static_cast<u16>(word));
    }

    static constexpr f32 widen(u16 h) {
        const u32 sign = static_cast<u32>(h & 0x8000) << 16;
        const u32 field = (h & infinity) >> MantissaBits, fraction = h & (2 * quiet - 1);
        const u32 shift = 23 - MantissaBits;
        if ((h & infinity) == infinity)
            return std::bit_cast<f32>(sign | 0x7f800000u | fraction << shift |
                                      (fraction ? 0x00400000u : 0u));
        if constexpr (bias == 127) // the same exponents as f32: only the mantissa is shorter
            return std::bit_cast<f32>(sign | field << 23 | fraction << shift);
        if (field == 0) { // a subnormal is fraction * 2^(emin - mantissa), exact in f32
            const f32 unit = std::bit_cast<f32>(static_cast<u32>(emin - mantissa + 127) << 23);
            const f32 magnitude = static_cast<f32>(fraction) * unit;
            return sign ? -magnitude : magnitude;
        }
        return std::bit_cast<f32>(sign | (field + 127 - bias) << 23 | fraction << shift);
    }

    // Distance between neighbours of the format at |x|: one unit in the last place.
    static constexpr f64 ulp(f64 x) {
        const int field = static_cast<int>(std::bit_cast<u64>(x) >> 52 & 0x7ff);
        const int e = field - 1023 < emin ? emin : field - 1023;
        return std::bit_cast<f64>(static_cast<u64>(e - MantissaBits + 1023) << 52);
    }
};

using Bf16 = Float16<8, 7>;
using F16 = Float16<5, 10>;

constexpr f32 bf16_to_f32(u16 h) { return Bf16::widen(h); }
constexpr f32 f16_to_f32(u16 h) { return F16::widen(h); }
constexpr u16 f32_to_bf16(f32 x) { return Bf16::narrow(x); }
constexpr u16 f32_to_f16(f32 x) { return F16::narrow(x); }

constexpr f32 to_f32(Dtype d, u16 h) { return d == Dtype::bf16 ? Bf16::widen(h) : F16::widen(h); }
constexpr u16 round_to(Dtype d, f64 x) {
    return d == Dtype::bf16 ? Bf16::narrow(x) : F16::narrow(x);
}
constexpr f64 ulp(Dtype d, f64 x) { return d == Dtype::bf16 ? Bf16::ulp(x) : F16::ulp(x); }
constexpr std::string_view name(Dtype d) { return d == Dtype::bf16 ? "bf16" : "f16"; }

// A NaN in both formats: fills guard bands and padding.
inline constexpr u16 nan_poison = 0xffff;

} // namespace nw

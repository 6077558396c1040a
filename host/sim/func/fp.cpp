// SPDX-License-Identifier: MIT
#include "sim/func/fp.h"

namespace nw::sim::NW_LEVEL::fp {

namespace {

// magnitude >> shift, rounded by `round` for a value of this sign.
u64 shift_rounded(u64 magnitude, unsigned shift, bool negative, u8 round) {
    if (shift > 63)
        magnitude = magnitude != 0, shift = 63;
    u64 kept = magnitude >> shift, rest = magnitude & ((u64{1} << shift) - 1);
    u64 half = shift ? u64{1} << (shift - 1) : 0;
    switch (round) {
    case round_nearest:
        return kept + (shift && (rest > half || (rest == half && (kept & 1))));
    case round_up_inf:
        return kept + (rest && !negative);
    case round_down_inf:
        return kept + (rest && negative);
    default:
        return kept;
    }
}

} // namespace

u32 narrow16(f64 x, const Mode &m) {
    u64 u = bits(x);
    bool negative = u >> 63;
    u32 sign = negative ? 0x8000 : 0;
    int exponent = static_cast<int>(u >> 52 & 0x7ff);
    u64 fraction = u & ((u64{1} << 52) - 1);
    if (exponent == 0x7ff)
        return sign | (fraction ? 0x7e00 | static_cast<u32>(fraction >> 42 & 0x1ff) : 0x7c00);
    if (exponent == 0 && fraction == 0)
        return sign;
    int e = exponent ? exponent - 1023 : -1022;
    u64 mantissa = fraction | (exponent ? u64{1} << 52 : 0);
    bool subnormal = e < -14;
    if (subnormal && m.flush16_out) {
        // 2.4: what counts is the value rounded as if exponents had no end.
        bool carries = e == -15 && shift_rounded(mantissa, 42, negative, m.round16_64) == 2048;
        return sign | (carries ? 0x400u : 0u);
    }
    unsigned shift = static_cast<unsigned>(subnormal ? 42 + (-14 - e) : 42);
    u64 kept = shift_rounded(mantissa, shift, negative, m.round16_64);
    u64 r = subnormal ? kept : (static_cast<u64>(e + 15) << 10) + kept - 1024;
    if (r < 0x7c00)
        return sign | static_cast<u32>(r);
    bool to_max = m.fp16_ovfl || m.round16_64 == round_zero ||
                  m.round16_64 == (negative ? round_up_inf : round_down_inf);
    return sign | (to_max ? 0x7bffu : 0x7c00u);
}

} // namespace nw::sim::NW_LEVEL::fp

// SPDX-License-Identifier: MIT
#include "sim/func/alu/fp_div.h"

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
        // 2.4: tininess is decided on the value rounded with unbounded exponent.
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

namespace {

// 2 / pi, most significant bits first; beyond its 1201 bits the hardware's constant is 0.
constexpr unsigned two_over_pi_bits = 1201;
constexpr u64 two_over_pi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};

u64 bit_of_two_over_pi(unsigned n) {
    return n < two_over_pi_bits ? two_over_pi[n / 64] >> (63 - n % 64) & 1 : 0;
}

} // namespace

f64 trig_preop(f64 x, u32 segment) {
    int e = static_cast<int>(bits(x) >> 52 & 0x7ff);
    unsigned shift = 53 * (segment & 31) + static_cast<unsigned>(e > 1077 ? e - 1077 : 0);
    u64 window = 0;
    for (unsigned n = 0; n < 53; ++n)
        window = window << 1 | bit_of_two_over_pi(shift + n);
    int scale = -53 - static_cast<int>(shift) + (e >= 1968 ? 128 : 0);
    return __builtin_scalbn(static_cast<f64>(window), scale);
}

} // namespace nw::sim::NW_LEVEL::fp

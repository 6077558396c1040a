// SPDX-License-Identifier: MIT
// FP8 (E4M3, without infinities) and BF8 (E5M2), to and from f32 (2.43, S-020, S-021). Integer
// arithmetic: neither MODE's nor the host's rounding matters. Compiled per host level.
#pragma once
#include "sim/func/alu/fp.h"
#include "sim/func/choices.h"

namespace nw::sim::NW_LEVEL::fp8 {

struct E4M3 {
    static constexpr u32 fraction_bits = 3, bias = 7;
    static constexpr u32 largest = 0x7e, overflow = 0x7f; // overflow and infinity become NaN
    static constexpr u32 nan = 0xff;
    static constexpr bool is_nan(u32 code) { return (code & 0x7f) == 0x7f; }
    static constexpr bool is_infinite(u32) { return false; }
};
struct E5M2 {
    static constexpr u32 fraction_bits = 2, bias = 15;
    static constexpr u32 largest = 0x7b, overflow = 0x7c; // infinity
    static constexpr u32 nan = 0xfe;
    static constexpr bool is_nan(u32 code) { return (code & 0x7f) > 0x7c; }
    static constexpr bool is_infinite(u32 code) { return (code & 0x7f) == 0x7c; }
};

// f32 bits of the code in the low byte. Exact; every NaN is the default one, negative.
template <class F> u32 decode(u32 byte) {
    const u32 code = byte & 0x7f, sign = (byte & 0x80) << 24;
    const u32 aligned = code << (23 - F::fraction_bits);
    const u32 normal = aligned + ((127 - F::bias) << 23);
    // A subnormal is its fraction in units of the smallest: a small integer, scaled.
    const f32 unit = fp::f32_of((127 - F::bias + 1 - F::fraction_bits) << 23);
    const u32 tiny = fp::bits(static_cast<f32>(static_cast<i32>(code)) * unit);
    u32 r = code >> F::fraction_bits ? normal : tiny;
    r = F::is_infinite(code) ? 0x7f800000 : r;
    return F::is_nan(code) ? fp::default_nan32 : r | sign;
}
template <class F> u64 decode_pair(u32 half) {
    return decode<F>(half) | u64{decode<F>(half >> 8)} << 32;
}

// Common part of encode() and encode_random(). `round` gets the significand, aligned to the
// result's exponent except for `shift` bits, and returns it without those.
template <class F, class R> u32 narrow(f32 x, const Mode &m, R round) {
    const u32 bits = fp::bits(fp::in(x, m)), sign = bits >> 24 & 0x80,
              magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return F::nan;
    if (magnitude == 0x7f800000)
        return sign | F::overflow; // FP16_OVFL doesn't apply: only finite values saturate
    const i32 smallest = 1 - static_cast<i32>(F::bias);
    const i32 exponent = static_cast<i32>(magnitude >> 23) - 127;
    const u32 limit = m.fp16_ovfl ? F::largest : F::overflow;
    if (exponent > static_cast<i32>(F::bias) + 1)
        return sign | limit;
    const u32 significand = (magnitude & 0x7fffff) | (magnitude >> 23 ? 0x800000 : 0);
    const u32 down = exponent < smallest ? static_cast<u32>(smallest - exponent) : 0;
    // The implicit bit adds one to the exponent field.
    const u32 field = exponent < smallest ? 0 : static_cast<u32>(exponent - smallest);
    const u32 code = round(significand, down < 31 ? down : 31, field);
    return sign | (code < limit ? code : limit);
}

// To nearest, ties to even.
template <class F> u32 encode(f32 x, const Mode &m) {
    return narrow<F>(x, m, [](u32 significand, u32 down, u32 field) {
        const u32 cut = 23 - F::fraction_bits + down;
        const u64 wide = u64{significand} << 32 >> cut;
        const u32 kept = static_cast<u32>(wide >> 32), rest = static_cast<u32>(wide);
        const bool up = rest > 0x80000000 || (rest == 0x80000000 && (kept & 1));
        return (field << F::fraction_bits) + kept + (up ? 1u : 0u);
    });
}

// The seed's upper bits are added to the bits rounded away (S-020). Bits that a subnormal result's
// alignment shifts out are lost before.
template <class F> u32 encode_random(f32 x, u32 seed, const Mode &m) {
    const bool carries = choices().sr_carry == choice::sr_carry::carry;
    return narrow<F>(x, m, [&](u32 significand, u32 down, u32 field) {
        constexpr u32 cut = 23 - F::fraction_bits;
        const u32 aligned = significand >> down;
        const u32 sum = aligned + (seed >> (32 - cut));
        const u32 wrapped = (aligned & 0x800000) | (sum & 0x7fffff);
        return (field << F::fraction_bits) + ((carries ? sum : wrapped) >> cut);
    });
}

} // namespace nw::sim::NW_LEVEL::fp8

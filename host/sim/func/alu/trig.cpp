// SPDX-License-Identifier: MIT
// v_sin_f32, v_cos_f32: the published model of the unit (S-013). The argument counts turns.
// Compiled once per host level.
#include <cmath>

#include "sim/func/alu/trans.h"
#include "sim/func/choices.h"

namespace nw::sim::NW_LEVEL::trans {

namespace {

// Reduced argument: a distance in [0, 2^28] within an octant, in units of 2^-31 turns, and the end
// from which it is measured.
struct Phase {
    u32 quadrant, reduced;
    bool reflected; // measured from the far end of the quadrant
};

Phase phase_of(u32 x) {
    int exponent = static_cast<int>(x >> 23 & 255) - 127; // below 23: larger ones are whole turns
    u64 mantissa = (x & 0x7fffff) | (x & 0x7f800000 ? 0x800000 : 0);
    int up = exponent + 8;
    u64 turns = up >= 0 ? mantissa << up : -up < 64 ? mantissa >> -up : 0;
    u32 phase = static_cast<u32>(turns & 0x7fffffff), quarter = phase & 0x1fffffff;
    bool reflected = quarter >= 0x10000000;
    return {phase >> 29, reflected ? 0x20000000 - quarter : quarter, reflected};
}

// Input of the linear term: the offset without `drop` bits, rounded, but never into the next block
// of 2^(20 + drop). From the far end, distances approach their segment's end from below.
u32 linear_input(u32 offset, unsigned drop, bool reflected) {
    u32 x = offset - reflected;
    u32 rounded = (x + (1u << (drop - 1))) >> drop, last = (((x >> (20 + drop)) + 1) << 20) - 1;
    return (rounded < last ? rounded : last) << drop;
}

u64 magnitude_of(i64 x) { return static_cast<u64>(x < 0 ? -x : x); }

// How far the offset can shift left in steps of four bits and stay below 2^limit.
unsigned four_bit_steps(u32 offset, unsigned limit) {
    unsigned width = offset ? 32 - static_cast<unsigned>(__builtin_clz(offset)) : 0;
    return width < limit ? (limit - width) / 4 * 4 : 0;
}

// Magnitude of the quadratic coefficient, cubic included, with seven fraction bits; it is never
// positive. It uses 18 bits of the offset; cosine's counts from the segment's far end.
u64 curvature(const TrigSegment &s, u32 x) {
    bool falls = s.cubic > 0;
    u64 at = (falls ? 0xffffff - x : x) & ~u32{63};
    i64 base = falls ? -i64{s.quadratic} - s.cubic : -i64{s.quadratic};
    return round_even((static_cast<u64>(base) << 24) + magnitude_of(s.cubic) * at, 17);
}

// Sine near zero keeps more bits: its first segment scales with the offset's leading zeros.
u32 sine_near_zero(const TrigSegment &s, u32 at, u32 offset, bool reflected) {
    unsigned up = at ? 0 : four_bit_steps(offset, 24),
             linear_up = at ? 0 : four_bit_steps(offset, 25);
    u64 input = at ? linear_input(offset, 2, reflected) : u64{offset} << linear_up;
    if (!at && reflected && ((u64{offset} << up) & 0xfffff) == 0)
        --input;
    unsigned linear_bits = at ? 30 : 32 + up, bits = 34 + up;
    u64 linear = (static_cast<u64>(s.linear) * input) >> (50 + linear_up - linear_bits);
    u64 x = (offset - reflected) >> 7;
    unsigned square_bits = 24 + up < 34 ? 24 + up : 34;
    u64 square = (x * x) >> (34 - square_bits);
    u64 minus = round_even(curvature(s, offset - reflected) * square, 33 + square_bits - bits);
    u64 sum =
        (static_cast<u64>(s.constant) << (bits - 26)) + (linear << (bits - linear_bits)) - minus;
    return fixed_to_f32(sum, bits, false);
}

u32 elsewhere(const TrigSegment &s, u32 offset, bool reflected) {
    i64 product = i64{s.linear} * linear_input(offset, 4, reflected);
    u64 magnitude = magnitude_of(product);
    u64 rounded = magnitude >> 45 ? round_even(magnitude, 22) * 2 : round_even(magnitude, 21);
    i64 linear = product < 0 ? -static_cast<i64>(rounded) : static_cast<i64>(rounded);
    u64 x = (offset - reflected) >> 7;
    u64 curve = curvature(s, offset - reflected) * ((x * x) >> 10);
    u64 half = u64{1} << (curve >> 47 ? 23 : 22);
    u64 minus = curve <= half ? 0 : (curve - half + (u64{1} << 29) - 1) >> 29;
    i64 sum = i64{s.constant} * 8 + linear - static_cast<i64>(minus) * 2;
    return fixed_to_f32(static_cast<u64>(sum), 29, false);
}

// x * 2 pi for tiny x, rounded to f32 by hand: MODE only affects subnormals.
u32 small_sine(u32 x, const Mode &m) {
    u32 magnitude = x & 0x7fffffff, sign = x & 0x80000000;
    i32 exponent = static_cast<i32>(magnitude >> 23 ? magnitude >> 23 : 1);
    u64 product = u64{(magnitude & 0x7fffff) | (magnitude >> 23 ? 0x800000 : 0)} * 0xc90fd5;
    if (product == 0)
        return sign;
    int leading = 63 - __builtin_clzll(product), biased = exponent - 44 + leading;
    if (biased < 1) {
        u32 r = static_cast<u32>(round_even(product, 21));
        bool keeps = m.bits >> 5 & 1;
        return sign | (keeps || r >= 0x800000 ? r : 0);
    }
    auto mantissa = static_cast<u32>(round_even(product, static_cast<unsigned>(leading - 23)));
    return sign | (mantissa + (static_cast<u32>(biased - 1) << 23));
}

// S-013, where the model is doubtful: the nearest f32. Whole quarters are subtracted first,
// exactly, so that no zero is a difference of large numbers.
u32 nearest(u32 x, bool cosine) {
    constexpr f64 two_pi = 6.283185307179586;
    f64 turns = fp::f32_of(x & 0x7fffffff), quarters = __builtin_rint(turns * 4);
    f64 angle = (turns - quarters / 4) * two_pi;
    unsigned quadrant = (static_cast<unsigned>(quarters) + cosine) & 3; // cos is sin a quarter on
    f64 r = quadrant & 1 ? std::cos(angle) : std::sin(angle);
    if (r == 0)
        return 0;
    bool negative = (quadrant >> 1) ^ (!cosine && x >> 31);
    return fp::bits(static_cast<f32>(negative ? -r : r));
}

bool beyond_domain(u32 magnitude) {
    constexpr u32 turns256 = 0x43800000;
    return magnitude > turns256 && choices().trig_range == choice::trig_range::turns256;
}

u32 sine_or_cosine(u32 x, bool cosine, const Mode &m) {
    u32 magnitude = x & 0x7fffffff;
    if (magnitude >= infinity32)
        return magnitude == infinity32 ? fp::default_nan32 : quiet(x, m);
    if (magnitude < 0x00800000 && (magnitude == 0 || !m.keeps32()))
        return cosine ? 0x3f800000 : x & 0x80000000;
    if (magnitude >= 0x4b000000 || beyond_domain(magnitude)) // 2^23: whole turns
        return cosine ? 0x3f800000 : 0;
    constexpr u32 sine_is_normal = 0x01000000;
    if (magnitude >= sine_is_normal && choices().trig_bits == choice::trig_bits::nearest)
        return nearest(x, cosine);
    if (!cosine && magnitude < 0x39c00000)
        return small_sine(x, m);
    Phase p = phase_of(x);
    u32 table = cosine ^ (p.quadrant & 1) ^ u32 { p.reflected };
    u32 at = (p.reduced - p.reflected) >> 24, offset = p.reduced - (at << 24);
    const TrigSegment &s = trig_segments[table][at];
    u32 r;
    if (table == 0 && p.reduced == 0)
        return 0;
    if (table == 1 && p.reduced - p.reflected < 46592) // closer to 1 than to the next f32
        r = 0x3f800000;
    else if (table == 0 && at < 2)
        r = sine_near_zero(s, at, offset, p.reflected);
    else
        r = elsewhere(s, offset, p.reflected);
    bool negative = (p.quadrant >> 1) ^ (cosine & p.quadrant & 1) ^ (!cosine && x >> 31);
    return r | (negative ? 0x80000000 : 0);
}

} // namespace

u32 sin(u32 x, const Mode &m) { return sine_or_cosine(x, false, m); }
u32 cos(u32 x, const Mode &m) { return sine_or_cosine(x, true, m); }

} // namespace nw::sim::NW_LEVEL::trans

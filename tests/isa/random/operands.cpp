// SPDX-License-Identifier: MIT
#include "isa/random/operands.h"

#include <algorithm>
#include <vector>

namespace nw::oracle {

namespace {

// Hard values of a format: zeros, the ends of the subnormals and the normals, ones and their
// neighbours, powers of two, integers and halves, infinity, NaN with payloads; both signs.
std::vector<u64> floats(const Format &f, std::initializer_list<u64> more) {
    const u64 one = f.one(), ulp = 1, inf = f.infinity(), normal = f.smallest_normal();
    auto power = [&](int n) { return one + (static_cast<u64>(static_cast<i64>(n)) << f.mantissa); };
    std::vector<u64> v{0,
                       ulp,
                       2,
                       normal / 2,
                       normal - 1,
                       normal,
                       normal + 1,
                       2 * normal,
                       one - 1,
                       one,
                       one + 1,
                       power(-1),
                       power(1),
                       power(1) | f.quiet(),
                       power(0) | f.quiet(),
                       power(static_cast<int>(f.mantissa)) - 1,
                       power(static_cast<int>(f.mantissa)) + 1,
                       power(static_cast<int>(f.mantissa) + 1),
                       power(-static_cast<int>(f.mantissa) - 1),
                       inf - 1,
                       inf - normal,
                       inf,
                       inf | f.quiet(),
                       inf | f.quiet() | 0x2a,
                       inf | 1,
                       inf | (f.quiet() >> 1) | 3};
    v.insert(v.end(), more);
    size_t positive = v.size();
    for (size_t n = 0; n < positive; ++n)
        v.push_back(v[n] | f.sign());
    return v;
}

std::vector<u64> integers(unsigned width) {
    std::vector<u64> v{0,  1,  2,  3,  4,  5,  7,   8,   15,  16, 17,
                       31, 32, 33, 63, 64, 65, 127, 128, 255, 256};
    for (unsigned n = 8; n <= width; n += 8)
        for (i64 around : {-1, 0, 1})
            v.push_back(low(width, (n == 64 ? 0 : u64{1} << n) + static_cast<u64>(around)));
    for (unsigned n : {width - 1, width - 2, 15u, 23u})
        for (i64 around : {-1, 0, 1})
            v.push_back(low(width, (u64{1} << n % width) + static_cast<u64>(around)));
    for (u64 pattern : {0x5555555555555555, 0x00ff00ff00ff00ff, 0x0123456789abcdef})
        for (u64 x : {pattern, ~pattern})
            v.push_back(low(width, x));
    for (i64 negative : {-2, -3, -8, -16, -32, -150})
        v.push_back(low(width, static_cast<u64>(negative)));
    return v;
}

std::vector<u64> packed(const std::vector<u64> &halves) {
    std::vector<u64> v;
    for (size_t n = 0; n < halves.size(); ++n)
        v.push_back(halves[n] | halves[(n * 7 + 3) % halves.size()] << 16);
    return v;
}

// Halfway between halves, 8-bit and normalised values; the ends of the integers.
const std::vector<u64> singles = floats(
    f32, {0x33000000, 0x33000001, 0x33800000, 0x33c00000, 0x387fc000, 0x387fe000, 0x387fefff,
          0x38800000, 0x387ff000, 0x38801000, 0x3c001000, 0x3c003000, 0x477fe000, 0x477fefff,
          0x477ff000, 0x47800000, 0x4effffff, 0x4f000000, 0x4f000001, 0x4f7fffff, 0x4f800000,
          0x5f000000, 0x40200000, 0x40e00000, 0x437f0000, 0x437f8000, 0x43800000, 0x46fffe00,
          0x46ffff00, 0x47000000, 0x477fff00, 0x477fff80, 0x37800080, 0x38000100, 0x30000000,
          0x1f800000, 0x5e800000, 0x20000000, 0x7f000000, 0x7e800000, 0x3e22f983, 0x40490fdb});
const std::vector<u64> doubles =
    floats(f64, {0x3690000000000000, 0x3690000000000001, 0x36a0000000000000, 0x3810000000000000,
                 0x380fffffe0000000, 0x380ffffff0000000, 0x380fffffdfffffff, 0x47efffffe0000000,
                 0x47efffffefffffff, 0x47effffff0000000, 0x47f0000000000000, 0x3ff0000010000000,
                 0x3ff0000030000000, 0x41dfffffffc00000, 0x41dfffffffe00000, 0x41e0000000000000,
                 0x41efffffffe00000, 0x41efffffffffffff, 0x41f0000000000000, 0x4330000000000001,
                 0x1fffffffffffffff, 0x2000000000000000, 0x5fe0000000000000, 0x0350000000000000,
                 0x7ca0000000000000, 0x4350000000000000, 0x7b00000000000000, 0x4004000000000000});
const std::vector<u64> halves = floats(f16, {0x3bfe, 0x4248, 0x5640, 0x6400, 0x6401, 0x77ff, 0x7800,
                                             0x0200, 0x3118, 0x3800, 0x3a00, 0x5bf8, 0x7a00});
const std::vector<u64> bfloats = floats(bf16, {0x4049, 0x3e23, 0x0001});

// Mantissas with few bits, long runs or noise; exponents close to each other and to the ends.
u64 random_float(const Format &f, Random &random) {
    u64 mantissa = random() & (f.smallest_normal() - 1);
    switch (random() % 4) {
    case 0:
        mantissa = (u64{1} << random() % (f.mantissa + 1)) & (f.smallest_normal() - 1);
        break;
    case 1:
        mantissa = (f.smallest_normal() - (u64{1} << random() % (f.mantissa + 1))) &
                   (f.smallest_normal() - 1);
        break;
    }
    u64 limit = (u64{1} << f.exponent) - 1, exponent;
    switch (random() % 6) {
    case 0:
        exponent = random() & limit;
        break;
    case 1:
        exponent = random() % 3;
        break;
    case 2:
        exponent = limit - random() % 4;
        break;
    default:
        exponent = static_cast<u64>(f.bias() + static_cast<int>(random() % (f.mantissa + 3)) -
                                    static_cast<int>(f.mantissa) / 2) &
                   limit;
    }
    return (random() & 1 ? f.sign() : 0) | exponent << f.mantissa | mantissa;
}

u64 random_integer(unsigned width, Random &random) {
    switch (random() % 4) {
    case 0: // few bits' worth
        return low(width, random() >> random() % 64);
    case 1: // small, either sign
        return low(width, random() % 4500 - 2250);
    default:
        return low(width, random());
    }
}

} // namespace

std::span<const u64> hard_values(T t) {
    static const std::vector<u64> words = integers(32), longs = integers(64), shorts = integers(16),
                                  pk16 = packed(shorts), pkh16 = packed(halves),
                                  pkbf16 = packed(bfloats), none{0};
    static const std::vector<u64> either = [] { // fma_mix: an f32 or two halves
        std::vector<u64> v = singles;
        v.insert(v.end(), pkh16.begin(), pkh16.end());
        return v;
    }();
    switch (t) {
    case T::h16:
        return halves;
    case T::s32:
        return singles;
    case T::d64:
        return doubles;
    case T::u16:
    case T::i16:
        return shorts;
    case T::u32:
    case T::i32:
        return words;
    case T::u64:
    case T::i64:
        return longs;
    case T::pk16:
        return pk16;
    case T::pkh16:
        return pkh16;
    case T::pkbf16:
        return pkbf16;
    case T::mix:
        return either;
    case T::none:
        break;
    }
    return none;
}

u64 random_value(T t, Random &random) {
    auto two = [&](const Format &f) {
        u64 first = random_float(f, random);
        return first | random_float(f, random) << 16;
    };
    switch (t) {
    case T::h16:
        return random_float(f16, random);
    case T::s32:
        return random_float(f32, random);
    case T::d64:
        return random_float(f64, random);
    case T::u16:
    case T::i16:
        return random_integer(16, random);
    case T::u64:
    case T::i64:
        return random_integer(64, random);
    case T::pkh16:
        return two(f16);
    case T::pkbf16:
        return two(bf16);
    case T::mix:
        return random() & 1 ? two(f16) : random_float(f32, random);
    default:
        return random_integer(32, random);
    }
}

std::vector<u32> modes(const Row &row, bool gfx12, Random &random) {
    bool single = false, other = false;
    for (T t : {row.d, row.a, row.b, row.c}) {
        single |= t == T::s32 || t == T::mix;
        other |= t == T::h16 || t == T::d64 || t == T::pkh16 || t == T::mix;
    }
    constexpr u32 compute = 0x3f0; // what compilers start with: nearest, subnormals, IEEE, DX10
    if (!single && !other)
        return {compute, 0, 0x30f};
    std::vector<u32> all;
    for (u32 fields = 0; fields < 256; ++fields) {
        u32 round32 = fields & 3, round64 = fields >> 2 & 3, denorm32 = fields >> 4 & 3,
            denorm64 = fields >> 6;
        if ((!single && (round32 || denorm32)) || (!other && (round64 || denorm64)))
            continue;
        u32 bits = fields;
        if (!single)
            bits |= random() & 0x33;
        if (!other)
            bits |= random() & 0xcc;
        for (u32 ieee_dx10 = 0; ieee_dx10 < (gfx12 ? 1 : 4); ++ieee_dx10)
            for (u32 ovfl : {0u, 1u})
                if (!ovfl || other)
                    all.push_back(bits | ieee_dx10 << 8 | ovfl << 23);
    }
    std::shuffle(all.begin(), all.end(), random);
    all.insert(all.begin(), compute);
    return all;
}

} // namespace nw::oracle

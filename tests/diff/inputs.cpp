// SPDX-License-Identifier: MIT
#include "inputs.h"

#include <span>

#include "base/rng.h"

namespace nw::diff {

namespace {

// clang-format off
constexpr u64 hard_words[] = {
    0, 1, 2, 3, 7, 15, 16, 31, 32, 33, 63, 64, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000,
    0x7fffff, 0x800000, 0xffffff, 0x1000000, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001,
    0xaaaaaaaa, 0x55555555, 0xff00ff00, 0xffff0000, 0xffffff80, 0xfffffff0, 0xfffffffe, 0xffffffff};
constexpr u64 hard_f32[] = {
    0x00000000, 0x80000000,                         // 0, -0
    0x00000001, 0x80000001, 0x007fffff, 0x807fffff, // subnormal: smallest and largest
    0x00400000, 0x00800000, 0x80800000, 0x00800001, // normal: smallest
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, // largest, infinities
    0x7fc00000, 0xffc00000, 0x7f800001, 0x7fabcdef, // NaN: quiet, signalling
    0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, // about 1
    0x3f000000, 0x3effffff, 0x3fc00000, 0x40200000, // 0.5, 1.5, 2.5: ties
    0x4b000000, 0x4b800000, 0x4b800001, 0x4f000000, // 2^23, 2^24, 2^31
    0xcf000000, 0x5f000000, 0x1f800000, 0x20000000, // 2^63, about the root of the smallest
    0x40490fdb, 0x7e800000};
constexpr u64 hard_f64[] = {
    0, u64{1} << 63, 1, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
    0x8010000000000000, 0x0008000000000000, 0x7fefffffffffffff, 0xffefffffffffffff,
    0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000000,
    0x7ff0000000000001, 0x3ff0000000000000, 0xbff0000000000000, 0x3fefffffffffffff,
    0x3ff0000000000001, 0x3fe0000000000000, 0x3ff8000000000000, 0x4004000000000000,
    0x4330000000000000, 0x4340000000000000, 0x4340000000000001, 0x41dfffffffc00000,
    0x41e0000000000000, 0xc1e0000000000000, 0x43e0000000000000, 0x1ff0000000000000,
    0x2000000000000000, 0x36a0000000000000, 0x3690000000000000, 0x47efffffe0000000,
    0x47effffff0000000, 0x400921fb54442d18};
constexpr u64 hard_f16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0200, 0x0400, 0x8400, 0x0401,
    0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01, 0x7d55, 0x3c00, 0xbc00,
    0x3bff, 0x3c01, 0x3800, 0x37ff, 0x3e00, 0x4100, 0x6400, 0x6800, 0x6801, 0x2000,
    0x1c00, 0x0c00, 0x5c00, 0x5bff, 0x4248, 0x3555};
constexpr u64 hard_bf16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0040, 0x0080, 0x8080, 0x0081,
    0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81, 0x7faa, 0x3f80, 0xbf80,
    0x3f7f, 0x3f81, 0x3f00, 0x3eff, 0x3fc0, 0x4020, 0x4300, 0x4380, 0x4381, 0x4f00,
    0xcf00, 0x5f00, 0x1f80, 0x2000, 0x4049, 0x3eab};
// clang-format on

struct Format {
    std::span<const u64> hard;
    u32 bits, mantissa, bias;
};

Format format_of(Inputs inputs) {
    switch (inputs) {
    case Inputs::words:
        return {hard_words, 32, 0, 0};
    case Inputs::f32:
        return {hard_f32, 32, 23, 127};
    case Inputs::f64:
        return {hard_f64, 64, 52, 1023};
    case Inputs::f16:
        return {hard_f16, 16, 10, 15};
    case Inputs::bf16:
        return {hard_bf16, 16, 7, 127};
    }
    __builtin_unreachable();
}

// Random bits; of floats three in four lie within 2^+-8, so that sums don't just drop one operand.
// Integers have a random number of leading zeros half of the time.
u64 random_value(const Format &format, Rng &rng) {
    const u64 bits = rng.next() >> (64 - format.bits);
    const u64 choice = rng.next();
    if (format.mantissa == 0)
        return choice & 1 ? bits : bits >> (choice >> 8) % 32;
    if (choice % 4 == 0)
        return bits;
    const u64 sign = bits & u64{1} << (format.bits - 1);
    const u64 exponent = format.bias - 8 + (choice >> 8) % 16;
    return sign | exponent << format.mantissa | (bits & ((u64{1} << format.mantissa) - 1));
}

// Values x, y, z, w of work-item i: all pairs (x, y) of hard values, then random ones.
struct Operands {
    u64 at[4];
};

Operands operands(const Format &format, u32 i, Rng rng) {
    const u64 count = format.hard.size();
    const auto hard = [&](u64 index) { return format.hard[index % count]; };
    if (i < count * count)
        return {hard(i), hard(i / count), hard(rng.next()), hard(rng.next())};
    Operands out;
    for (u64 &value : out.at)
        value = random_value(format, rng);
    return out;
}

} // namespace

std::vector<u32> make_inputs(Inputs inputs, u32 n, u64 seed) {
    const Format format = format_of(inputs);
    const Rng rng(seed);
    std::vector<u32> out(input_planes * n);
    for (u32 i = 0; i < n; ++i) {
        const Operands low = operands(format, i, rng.fork(2 * i));
        const Operands high = operands(format, n - 1 - i, rng.fork(2 * i + 1));
        for (u32 plane = 0; plane < input_planes; ++plane) {
            u64 word = low.at[plane];
            if (format.bits == 64)
                word = low.at[plane / 2] >> 32 * (plane % 2);
            if (format.bits == 16) // low halves meet each other first, high halves last
                word |= high.at[plane] << 16;
            out[plane * n + i] = static_cast<u32>(word);
        }
    }
    return out;
}

} // namespace nw::diff

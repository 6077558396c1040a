// SPDX-License-Identifier: MIT
#include "sim/func/memory/formats.h"

#include <algorithm>
#include <cmath>

#include "sim/func/alu/fp.h"
#include "sim/func/choices.h"

namespace nw::sim {

namespace {

namespace fp = base::fp;

constexpr u32 infinity16 = 0x7c00;

u32 mask(unsigned bits) { return bits == 32 ? ~0u : (1u << bits) - 1; }
i32 sign_extend(u32 x, unsigned bits) { return static_cast<i32>(x << (32 - bits)) >> (32 - bits); }

// 10- and 11-bit floats are f16 without the sign and the last mantissa bits.
unsigned dropped_bits(unsigned bits) { return 15 - bits; }

// Value of normalised, scaled and small float components, exact or rounded once to f64.
f64 real_value(NumberFormat number, unsigned bits, u32 x) {
    switch (number) {
    case NumberFormat::unorm:
        return f64{static_cast<f64>(x)} / mask(bits);
    case NumberFormat::snorm:
        return std::max(static_cast<f64>(sign_extend(x, bits)) / mask(bits - 1), -1.0);
    case NumberFormat::uscaled:
        return x;
    default:
        return sign_extend(x, bits);
    }
}

u32 float_bits32(unsigned bits, u32 x) {
    if (bits == 32)
        return x;
    return fp::bits(fp::widen16(bits == 16 ? x : x << dropped_bits(bits)));
}

u32 nearest16(f64 x) {
    Mode nearest;
    return fp::narrow16(x, nearest) & 0xffff;
}

// S-031: an integer that doesn't fit a narrower component.
u32 narrow_integer(bool is_signed, unsigned bits, u32 x) {
    if (bits == 32)
        return x;
    if (choices().typed_integer == choice::typed_integer::wrap)
        return x & mask(bits);
    if (!is_signed)
        return std::min(x, mask(bits));
    i32 most = static_cast<i32>(mask(bits - 1));
    return static_cast<u32>(std::clamp(static_cast<i32>(x), -most - 1, most)) & mask(bits);
}

// The nearest float of 5 exponent and `mantissa` bits, without a sign: negative values are 0.
u32 small_float(f64 x, unsigned mantissa) {
    if (std::isnan(x))
        return (mask(5) << mantissa) | 1u << (mantissa - 1);
    if (x <= 0)
        return 0;
    constexpr int smallest = -14, beyond = 16;
    int exponent = 0;
    std::frexp(x, &exponent);
    if (std::isinf(x) || exponent > beyond)
        return infinity16 >> (10 - mantissa);
    int step = std::max(exponent - 1, smallest) - static_cast<int>(mantissa);
    f64 rounded = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
    return nearest16(rounded) >> (10 - mantissa);
}

// Normalised, scaled and float components of a value that is exact in f64.
u32 from_real(NumberFormat number, unsigned bits, f64 x) {
    auto limited = [&](f64 low, f64 high, f64 scale) {
        f64 y = std::isnan(x) ? 0 : std::clamp(x, low, high);
        return static_cast<u32>(static_cast<i64>(std::nearbyint(y * scale))) & mask(bits);
    };
    f64 most = mask(bits), most_signed = mask(bits - 1);
    switch (number) {
    case NumberFormat::unorm:
        return limited(0, 1, most);
    case NumberFormat::snorm:
        return limited(-1, 1, most_signed);
    case NumberFormat::uscaled:
        return limited(0, most, 1);
    case NumberFormat::sscaled:
        return limited(-most_signed - 1, most_signed, 1);
    default:
        return small_float(x, bits - 5);
    }
}

} // namespace

unsigned BufferFormat::components() const {
    return static_cast<unsigned>(std::count_if(bits, bits + 4, [](u8 b) { return b != 0; }));
}
unsigned BufferFormat::bytes() const {
    return (unsigned{bits[0]} + bits[1] + bits[2] + bits[3]) / 8;
}
u32 BufferFormat::one() const { return is_integer() ? 1 : 0x3f800000; }
u32 BufferFormat::one16() const { return is_integer() ? 1 : 0x3c00; }

const BufferFormat *find_buffer_format(unsigned code, Generation generation) {
    struct Row {
        u8 since_gfx11, on_gfx10;
        BufferFormat format;
    };
    static const Row rows[] = {
#define BUFFER_FORMAT(since_gfx11, on_gfx10, name, number, ...)                                    \
    {since_gfx11, on_gfx10, {#name, NumberFormat::number, {__VA_ARGS__}}},
#include "sim/isa/tables/buffer_formats.inc"
#undef BUFFER_FORMAT
    };
    const auto code_of = generation == Generation::gfx10 ? &Row::on_gfx10 : &Row::since_gfx11;
    const Row *at = std::ranges::find(rows, code, code_of);
    return code == 0 || at == std::end(rows) ? nullptr : &at->format;
}

u32 BufferElement::component(const BufferFormat &f, unsigned c) const {
    unsigned at = 0;
    for (unsigned n = 0; n < c; ++n)
        at += f.bits[n];
    return dword[at / 32] >> at % 32 & mask(f.bits[c]);
}

void BufferElement::set_component(const BufferFormat &f, unsigned c, u32 bits) {
    unsigned at = 0;
    for (unsigned n = 0; n < c; ++n)
        at += f.bits[n];
    dword[at / 32] |= bits << at % 32;
}

u32 load_component(const BufferFormat &f, unsigned c, u32 x) {
    switch (f.number) {
    case NumberFormat::uint:
        return x;
    case NumberFormat::sint:
        return static_cast<u32>(sign_extend(x, f.bits[c]));
    case NumberFormat::real:
        return float_bits32(f.bits[c], x);
    default:
        return fp::bits(static_cast<f32>(real_value(f.number, f.bits[c], x)));
    }
}

u32 load_component16(const BufferFormat &f, unsigned c, u32 x) {
    unsigned bits = f.bits[c];
    switch (f.number) {
    case NumberFormat::uint:
        return narrow_integer(false, 16, x);
    case NumberFormat::sint:
        return narrow_integer(true, 16, static_cast<u32>(sign_extend(x, bits)));
    case NumberFormat::real: // 5.26: f32 is truncated
        return bits == 32   ? fp::narrow16_toward_zero(fp::f32_of(x)) & 0xffff
               : bits == 16 ? x
                            : x << dropped_bits(bits);
    default:
        return nearest16(real_value(f.number, bits, x));
    }
}

u32 store_component(const BufferFormat &f, unsigned c, u32 value) {
    unsigned bits = f.bits[c];
    if (f.is_integer())
        return narrow_integer(f.number == NumberFormat::sint, bits, value);
    if (f.number == NumberFormat::real && bits == 32)
        return value;
    if (f.number == NumberFormat::real && bits == 16)
        return fp::narrow16_toward_zero(fp::f32_of(value)) & 0xffff; // 5.26
    return from_real(f.number, bits, fp::f32_of(value));
}

u32 store_component16(const BufferFormat &f, unsigned c, u32 value) {
    unsigned bits = f.bits[c];
    value &= 0xffff;
    if (f.is_integer())
        return narrow_integer(
            f.number == NumberFormat::sint, bits,
            f.number == NumberFormat::sint ? static_cast<u32>(sign_extend(value, 16)) : value);
    if (f.number == NumberFormat::real && bits >= 16)
        return bits == 16 ? value : fp::bits(fp::widen16(value));
    return from_real(f.number, bits, fp::widen16(value));
}

} // namespace nw::sim

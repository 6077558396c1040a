// SPDX-License-Identifier: MIT
#include "ref/e4m3.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace nw::ref {

namespace {

constexpr int mantissa_bits = 3, bias = 7;
constexpr u8 nan_bits = 0x7f;

f64 value_of(u8 bits) {
    const f64 sign = bits & 0x80 ? -1 : 1;
    const int exponent = bits >> mantissa_bits & 15, mantissa = bits & 7;
    if ((bits & 0x7f) == nan_bits)
        return NAN;
    const int significand = exponent ? 8 + mantissa : mantissa;
    return sign * std::ldexp(significand, std::max(exponent, 1) - bias - mantissa_bits);
}

} // namespace

f64 from_e4m3(u8 bits) {
    static const std::array values = [] {
        std::array<f64, 256> out{};
        for (u32 i = 0; i < 256; ++i)
            out[i] = value_of(static_cast<u8>(i));
        return out;
    }();
    return values[bits];
}

u8 to_e4m3(f64 x) {
    const u8 sign = std::signbit(x) ? 0x80 : 0;
    const f64 size = std::fabs(x);
    if (!(size <= 464))
        return nan_bits | sign;
    // The step of x's binade; below 2^-6 that of subnormal numbers.
    const int binade = std::max(size > 0 ? std::ilogb(size) : -1000, 1 - bias);
    const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, mantissa_bits - binade)));
    // 8 steps are the next binade's first number, and of subnormal ones the first normal one.
    return static_cast<u8>(sign | (((binade + bias - 1) << mantissa_bits) + steps));
}

} // namespace nw::ref

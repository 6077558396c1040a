// SPDX-License-Identifier: MIT
// FP8 and BF8 by definition: the values of the 256 codes.
#pragma once
#include <algorithm>
#include <cmath>

#include "base/types.h"

namespace nw::sim::test {

struct Fp8Format {
    const char *name;
    int fraction_bits, bias;
    u32 largest, overflow, nan; // codes; `overflow` replaces larger magnitudes

    int exponent(u32 code) const { return std::max<int>((code & 127) >> fraction_bits, 1) - bias; }
    // Codes that mean no number count as if the format went on.
    double value(u32 code) const {
        u32 fraction = code & ((1u << fraction_bits) - 1);
        bool normal = (code & 127) >> fraction_bits != 0;
        double significand = normal ? fraction + (1u << fraction_bits) : fraction;
        double magnitude = std::ldexp(significand, exponent(code) - fraction_bits);
        return code & 128 ? -magnitude : magnitude;
    }
    bool finite(u32 code) const { return (code & 127) <= largest; }
};

inline constexpr Fp8Format fp8{"fp8", 3, 7, 0x7e, 0x7f, 0xff}, bf8{"bf8", 2, 15, 0x7b, 0x7c, 0xfe};

} // namespace nw::sim::test

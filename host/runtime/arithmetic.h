// SPDX-License-Identifier: MIT
// Functions for the contracts' expressions (gen/expressions.py), beside ceil_div, round_up and
// the functions of std.
#pragma once
#include <algorithm>
#include <bit>

#include "base/types.h"

namespace nw {

constexpr u64 pow2(u64 bits) { return bits < 64 ? u64{1} << bits : 0; } // a rule refuses more
constexpr u64 log2_floor(u64 value) { return static_cast<u64>(std::bit_width(value)) - 1; }

// Reciprocal for a kernel's division by d (asm/lib/scalar.j2).
constexpr u64 inverse(u64 d) {
    const u64 whole = (u64{1} << 32) / d;
    return whole < 0xffffffff ? whole : 0xffffffff;
}

} // namespace nw

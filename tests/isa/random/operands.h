// SPDX-License-Identifier: MIT
// Operands: hard values first, then seeded random bits that are not uniformly dull.
#pragma once
#include <span>

#include "base/rng.h"
#include "isa/random/oracle.h"

namespace nw::oracle {

// A random bit generator for the standard library's algorithms.
class Random {
public:
    using result_type = u64;
    explicit Random(u64 seed) : rng_(seed) {}
    static constexpr u64 min() { return 0; }
    static constexpr u64 max() { return ~u64{0}; }
    u64 operator()() { return rng_.next(); }

private:
    Rng rng_;
};

std::span<const u64> hard_values(T);
u64 random_value(T, Random &);

// MODE settings that matter to these types: every combination of their rounding, denormal, IEEE,
// DX10_CLAMP and FP16_OVFL fields, the other type's fields at random.
std::vector<u32> modes(const Row &, bool gfx12, Random &);

} // namespace nw::oracle

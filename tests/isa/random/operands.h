// SPDX-License-Identifier: MIT
// Operands: hard values first, then seeded random bits that are not uniformly dull.
#pragma once
#include <random>
#include <span>

#include "isa/random/oracle.h"

namespace nw::oracle {

using Random = std::mt19937_64;

std::span<const u64> hard_values(T);
u64 random_value(T, Random &);

// MODE settings that matter to these types: every combination of their rounding, denormal, IEEE,
// DX10_CLAMP and FP16_OVFL fields, the other type's fields at random.
std::vector<u32> modes(const Row &, bool gfx12, Random &);

} // namespace nw::oracle

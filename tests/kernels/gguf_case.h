// SPDX-License-Identifier: MIT
// What the tests of products with GGUF weights have in common.
#pragma once
#include <cstddef>
#include <source_location>
#include <span>
#include <vector>

#include "check/check.h"

namespace nw::check {

// f32 of all sizes, signs and shapes: blocks of 32 of nothing, of one value, of quotients by a
// 127th of the greatest halfway between two numbers and right beside them.
std::vector<f32> gguf_activations(Rng &, u64 count);

// So many super-blocks of q4_K: any quants and scales, d and dmin as models have them, now and then
// subnormal or negative.
std::vector<std::byte> q4k_super_blocks(Rng &, u64 count);

// Fails unless the region's bits are those wanted, any NaN where NaN is, and its guards clean.
void same_bits(Test &, const char *name, const Region &, std::span<const f32> want,
               std::source_location where);

// Fails unless want is within tolerance of exact.
void near_exact(Test &, std::span<const f32> want, std::span<const f64> exact,
                std::span<const f64> tolerance, std::source_location where);

} // namespace nw::check

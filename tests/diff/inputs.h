// SPDX-License-Identifier: MIT
// Inputs of kernels: every pair of the hard values of a type first, then random ones.
#pragma once
#include <vector>

#include "base/types.h"

namespace nw::diff {

// words: 32-bit integers.  f32.  f64: (a, b) and (c, d) are the low and high word of one double.
// f16, bf16: two in each word.
enum class Inputs { words, f32, f64, f16, bf16 };

constexpr u32 input_planes = 4;

// Planes of n words each: a, b, c, d of every work-item.
std::vector<u32> make_inputs(Inputs, u32 n, u64 seed);

} // namespace nw::diff

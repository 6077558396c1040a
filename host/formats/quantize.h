// SPDX-License-Identifier: MIT
// Round-to-nearest group quantization to symmetric int4: w is stored as q in 0..15 and stands for
// (q - 8) * s. Per group of G weights of a row:
//
//     s = round_to_dtype(max(max(w) / 7, -min(w) / 8))    the smallest range -8s..7s over the group
//     q = clamp(round_to_nearest_even(w / s), -8, 7) + 8  with the rounded s
//
// so |w - (q - 8) * s| <= s / 2: where rounding made s smaller, the largest weight is clipped by at
// most 8 * 2^-9 of s (bf16), which is less. A group of zeros, or one whose s underflows to zero in
// the dtype, gets s = 0 and q = 8.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw {

struct Quantized {
    std::vector<u8> q;  // [N, K], 0..15
    std::vector<u16> s; // [N, K/G], bits of `dtype`
};

// One row of w.size() weights. Throws Error if a weight is not finite or s overflows the dtype.
void quantize_row(std::span<const f32> w, u32 group, Dtype, std::span<u8> q, std::span<u16> s);

// w [N, K].
Quantized quantize_rows(std::span<const f32> w, u32 n, u32 k, u32 group, Dtype);

} // namespace nw

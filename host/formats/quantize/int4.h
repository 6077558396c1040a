// SPDX-License-Identifier: MIT
// Group quantization to int4: w is stored as q in 0..15 and stands for (q - z) * s. Per group of G
// weights of a row, lo = min(0, min(w)) and hi = max(0, max(w)), with a ratio r of the range:
//
//     symmetric    s = round_to_dtype(r * max(hi / 7, -lo / 8)), z = 8
//     zero points  s = round_to_dtype(r * (hi - lo) / 15), z = clamp(round(-r * lo / s), 0, 15)
//
//     q = clamp(round(w / s) + z, 0, 15) with the rounded s; round() is to nearest, ties to even
//
// Clip::none has r = 1: then |w - (q - z) * s| <= s / 2 if symmetric and s is a normal number.
// Where rounding made s smaller, the largest weight is clipped by at most 8 * 2^-9 of s (bf16),
// which is less. With zero points the bound is 0.54 s, because z is rounded too. Clip::mse takes
// the r of int4_ratios with the least sum of (w - (q - z) * s)^2, the larger r if equal.
//
// A group of zeros, or one whose s underflows to zero in the dtype, gets s = 0 and q = z = 8.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"
#include "formats/quantize/clip.h"

namespace nw {

struct Int4Options {
    u32 group;
    Dtype dtype; // of the scales
    bool zero_points = false;
    Clip clip = Clip::none;
};

inline constexpr u32 int4_ratios = 21; // 1, 39/40, ... 20/40

// One row of w.size() weights. z has K/G elements, or none if symmetric. Throws Error if a weight
// is not finite or s overflows the dtype.
void quantize_row(std::span<const f32> w, const Int4Options &, std::span<u8> q, std::span<u16> s,
                  std::span<u8> z = {});

struct QuantizedRows {
    std::vector<u8> q;  // [N, K], 0..15
    std::vector<u16> s; // [N, K/G], bits of the dtype
    std::vector<u8> z;  // [N, K/G], or empty
};

// w [N, K].
QuantizedRows quantize_rows(std::span<const f32> w, u32 n, u32 k, const Int4Options &);

} // namespace nw

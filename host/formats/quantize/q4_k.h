// SPDX-License-Identifier: MIT
// ggml's q4_K: 256 weights in eight sub-blocks of 32, w = (d * sc) * q - dmin * m, with q in 0..15,
// sc and m in 0..63 per sub-block, d and dmin in f16.
//
// Per sub-block, with lo = min(0, min(w)) and hi = max(0, max(w)), w = a * q - b for some a, b >=
// 0:
//
//     Clip::none  a = (hi - lo) / 15, b = -lo
//     Clip::mse   for each t = (14 + i / 10) / (hi - lo), i in 0..20: a and b by least squares, of
//                 which b is 0 where it would be negative, for
//                 q = clamp(round(t * (w - lo)), 0, 15).
//                 The a, b with the least squared error among these and those of Clip::none.
//
// Then d = max(a) / 63 and dmin = max(b) / 63, rounded to f16, sc = round(a / d), m = round(b /
// dmin); with Clip::mse sc and m are, of these and their neighbours, the pair with the least
// squared error. At last q = clamp(round((w + dmin * m) / (d * sc)), 0, 15). A sub-block with d *
// sc = 0 has q = 0. Clip::mse gives the block of Clip::none where its own is no better.
#pragma once
#include <span>

#include "formats/gguf/gguf_blocks.h"
#include "formats/quantize/clip.h"

namespace nw {

// w has 256 finite weights. `stored` gets what the block stands for, rounded as ggml does. Throws
// Error if d or dmin is above the range of f16.
BlockQ4_K quantize_q4_K(std::span<const f32> w, Clip, std::span<f64> stored);

} // namespace nw

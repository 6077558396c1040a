// SPDX-License-Identifier: MIT
// Products with GGUF weights as the kernels define them, every rounding of f32 written out, and as
// they would be without any.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/types.h"
#include "formats/gguf_types.h"

namespace nw::ref {

// The tiles of x, f32 [m, k] (asm/quantize_q8/quantize_q8.s.j2). Throws Error where k % 32 != 0 or
// the size of x is another.
std::vector<std::byte> quantize_q8(std::span<const f32> x, u32 m, u32 k);

// What a tile says of a block of 32, b in 0..31.
struct Q8Block {
    f32 d, s; // from f16
    const i8 *q;
};
Q8Block q8_block(std::span<const std::byte> tiles, u32 m, u32 rows, u64 block);

struct GgufProduct {
    GgmlType type; // q4_0, q8_0, q4_K, q6_K
    u32 m, n, k;
    std::span<const std::byte> tiles; // of the activations
    std::span<const std::byte> w;     // [n, k / elements] blocks
};

// f32 [m, n], bit for bit what gguf_decode gives (asm/gguf_decode/gguf_decode.s.j2). Throws Error:
// another type, a k that is no whole number of blocks, another size.
std::vector<f32> gguf_decode(const GgufProduct &);

// In f64, of x itself: [m, n] sums of x * w, and how far the tiles may make a result differ:
// sum |w| * (what q and d leave of x); of q4_K's minima |dmin * mn| * (what s leaves of the sum).
struct GgufExact {
    std::vector<f64> c, tolerance;
};
GgufExact gguf_exact(std::span<const f32> x, const GgufProduct &);

} // namespace nw::ref

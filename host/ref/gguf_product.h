// SPDX-License-Identifier: MIT
// Products with GGUF weights as the kernels define them, with every rounding of f32, and exact.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/types.h"
#include "formats/gguf/gguf_types.h"

namespace nw::ref {

// The q8 tiles of x, f32 [m, k] (asm/quantize_q8/quantize_q8.s.j2). Throws Error if k % 32 != 0 or
// the size of x is wrong.
std::vector<std::byte> quantize_q8(std::span<const f32> x, u32 m, u32 k);

// Block b of a tile, 32 values d * q, b in 0..31.
struct Q8Block {
    f32 d; // its low 13 bits are the sum of q plus 4096
    const i8 *q;

    f32 sum() const;             // of q
    f32 s_32() const;            // d * (sum of q / 32), rounded once
    f32 half_16(u32 half) const; // of 16 q: d * (sum of q / 16)
};
Q8Block q8_block(std::span<const std::byte> tiles, u32 m, u32 rows, u64 block);

struct GgufProduct {
    GgmlType type; // of those with blocks in ref/gguf.h
    u32 m, n, k;
    std::span<const std::byte> tiles; // of the activations
    std::span<const std::byte> w;     // [n, k / elements] blocks
};

// f32 [m, n], bit-equal to gguf_decode (asm/gguf_decode/gguf_decode.s.j2). Throws Error for another
// type, a k that is not a whole number of blocks, or a wrong size.
std::vector<f32> gguf_decode(const GgufProduct &);

// In f64 from x: the sums of x * w, [m, n]; the error bound of the tiles: the sum of |w| * (the
// quantization error of x); size, the sum of |x| * (|d scale quant| + |dmin least|), in units of
// whose last bit f32 rounds.
struct GgufExact {
    std::vector<f64> c, tolerance, size;
};
GgufExact gguf_exact(std::span<const f32> x, const GgufProduct &);

} // namespace nw::ref

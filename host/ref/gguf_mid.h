// SPDX-License-Identifier: MIT
// Products of many rows with GGUF weights as gguf_mid defines them, every rounding written out.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "formats/gguf/gguf_types.h"

namespace nw::ref {

struct GgufMidProduct {
    GgmlType type;
    u32 m, n, k;
    u32 tiles;                    // of 16 rows
    u32 rows, columns;            // of a tile of c
    u32 share;                    // super-blocks of a workgroup
    u32 tile_units;               // from a tile's first to the next one's
    std::string_view gfx;         // decides WMMA's order of sums
    std::span<const std::byte> a; // of gguf_halves, at_end
    std::span<const std::byte> w; // [n, k / elements] blocks
};

// f32 [m, n], bit-equal to gguf_mid (asm/gguf_mid/gguf_mid.s.j2). Throws
// Error for a type without a formula, and for k < 256.
std::vector<f32> gguf_mid(const GgufMidProduct &);

// In f64 from x: the sums of x * w, [m, n], and the error bound of f16.
struct GgufMidExact {
    std::vector<f64> c, tolerance;
};
GgufMidExact gguf_mid_exact(std::span<const f32> x, const GgufMidProduct &);

} // namespace nw::ref

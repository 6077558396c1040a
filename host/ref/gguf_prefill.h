// SPDX-License-Identifier: MIT
// Products of many rows with GGUF weights as gguf_prefill defines them, every rounding written out.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "formats/gguf/gguf_types.h"

namespace nw::ref {

struct GgufPrefillProduct {
    GgmlType type; // q4_K, q6_K, q8_0, q4_0
    u32 m, n, k;
    u32 tiles;                    // of 16 rows, that `a` has
    u32 rows;                     // of a tile of c
    u32 raster, rotate;           // tile of rows i begins at k = 256 * rotate * (i % raster)
    std::string_view gfx;         // decides WMMA's order of sums
    std::span<const std::byte> a; // of gguf_halves
    std::span<const std::byte> w; // [n, k / elements] blocks
};

// f32 [m, n], bit-equal to gguf_prefill (asm/gguf_prefill/gguf_prefill.s.j2). Throws Error for
// another type, a k that is not a whole number of blocks, or a wrong size.
std::vector<f32> gguf_prefill(const GgufPrefillProduct &);

// In f64 from x: the sums of x * w, [m, n], and the error bound of f16 and of f32 sums.
struct GgufPrefillExact {
    std::vector<f64> c, tolerance;
};
GgufPrefillExact gguf_prefill_exact(std::span<const f32> x, const GgufPrefillProduct &);

} // namespace nw::ref

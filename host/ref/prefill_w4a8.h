// SPDX-License-Identifier: MIT
// Products of int8 activations with 4-bit weights, every rounding written out.
#pragma once
#include <span>
#include <vector>

#include "ref/decode.h"

namespace nw::ref {

// Where in k each tile of rows begins: k = 64 * rotate * (tile % raster).
struct TileStarts {
    u32 rows; // of a tile
    u32 raster, rotate;
};

struct ProductW4A8 {
    DecodeW4A16 w;                // its `a` is not used
    std::span<const i8> a;        // [M, K]
    std::span<const f32> a_scale; // [M]
    TileStarts starts;
};

// f32 [M, N], y of asm/prefill_w4a8. Throws Error if a span's size does not match the shape.
std::vector<f32> prefill_w4a8(const ProductW4A8 &);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// Rows of ggml's types as f32.
//
//   q4_0  w[i] = d * (q - 8)                 32 elements, nibble i % 16, low for i < 16
//   q8_0  w[i] = d * q                       32 elements, signed bytes
//   q4_K  w[i] = (d * sc) * q - dmin * m     256 elements, sc and m of sub-block i / 32
//   q6_K  w[i] = (d * sc) * (q - 32)         256 elements, sc of sub-block i / 16
//
// d and dmin are f16; sc, m and q are integers. Each operation rounds to f32, as in ggml, d * sc
// first; the products have at most 23 bits and are exact, so q4_K only rounds in the subtraction.
// f16, bf16 and f32 are exact.
#pragma once
#include <cstddef>

#include "formats/gguf_blocks.h"
#include "formats/gguf_types.h"

namespace nw::ref {

// out[0, k) from one row at any alignment. Throws Error for a type without a formula here, or a k
// that is not a whole number of blocks.
void dequantize_row(GgmlType, const std::byte *row, u64 k, f32 *out);

// sc and m of a sub-block of q4_K: 0 to 63.
struct SubScale {
    u32 scale, min;
};
SubScale sub_scale(const BlockQ4_K &, u32 sub_block);

} // namespace nw::ref

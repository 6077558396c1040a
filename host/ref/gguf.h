// SPDX-License-Identifier: MIT
// Rows of ggml's types as f32, and blocks of the quantized ones taken apart.
//
//   q4_0    w[i] = d * (q - 8)               32 elements, nibble i % 16, low for i < 16
//   q4_1    w[i] = d * q + m                 as q4_0
//   q5_0    w[i] = d * (q - 16)              as q4_0, and a fifth bit
//   q5_1    w[i] = d * q + m                 as q5_0
//   q8_0    w[i] = d * q                     32 elements, signed bytes
//   iq4_nl  w[i] = d * value(q)              as q4_0, of iq4_values
//   mxfp4   w[i] = 2^(e - 128) * value(q)    as q4_0, of 16 values: e2m1's times 2
//   nvfp4   w[i] = (sc / 2) * value(q)       64 elements, sc of sub-block i / 16; mxfp4's values
//   q2_K    w[i] = (d * sc) * q - dmin * m   256 elements, sc and m of sub-block i / 16
//   q3_K    w[i] = (d * (sc - 32)) * (q - 4) 256 elements, sc of sub-block i / 16
//   q4_K    w[i] = (d * sc) * q - dmin * m   256 elements, sc and m of sub-block i / 32
//   q5_K    w[i] = (d * sc) * q - dmin * m   as q4_K, and a fifth bit
//   q6_K    w[i] = (d * sc) * (q - 32)       256 elements, sc of sub-block i / 16
//   iq4_xs  w[i] = (d * (sc - 32)) * value(q) 256 elements, sc of sub-block i / 32
//
// d, m and dmin are f16; sc, q and values are integers. Each operation rounds to f32, as in ggml,
// d * sc first; the products have at most 23 bits and are exact, so only the last sum rounds. mxfp4
// has e from 0 to 255: 255, which is NaN in OCP's e8m0, is 2^127 here as in ggml. nvfp4's scales
// are fp8, e4m3 without a sign: its bit says nothing, and 0x7f, e4m3's NaN, is 0 here as in ggml;
// the scale that its tensors have beside is not in w. f16, bf16 and f32 are exact.
#pragma once
#include <cstddef>

#include "formats/gguf/gguf_types.h"

namespace nw::ref {

// ggml's codebook of four bits.
inline constexpr i32 iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                       1,    13,   25,  38,  53,  69,  89,  113};

// out[0, k) from one row at any alignment. Throws Error for a type without a formula here, or a k
// that is not a whole number of blocks.
void dequantize_row(GgmlType, const std::byte *row, u64 k, f32 *out);

// w[i] = (d * scale[i / sub]) * quant[i] - dmin * least[i / sub]
struct GgufBlock {
    u32 sub;     // elements with one scale
    bool minima; // else least is 0
    f32 d, dmin; // q4_1 and q5_1: dmin is -m, and least 1
    i32 scale[16], least[16], quant[256];
};

// A block at any alignment. Throws Error for a type that is not quantized or has no formula here.
GgufBlock gguf_block(GgmlType, const std::byte *block);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// Products of fp8 activations with GGUF weights, in f64, and how far f32 sums may be from them.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/types.h"
#include "formats/gguf/gguf_types.h"

namespace nw::ref {

struct ProductFp8 {
    GgmlType type; // of blocks of 32
    u32 m, n, k;
    std::span<const u8> a;        // [M, K], e4m3
    std::span<const f32> a_scale; // [M]
    std::span<const std::byte> w; // [N, K / 32] blocks
};

struct ProductFp8Exact {
    std::vector<f64> c, tolerance; // [M, N]
};

// Throws Error if a span's size does not match the shape.
ProductFp8Exact prefill_fp8(const ProductFp8 &);

} // namespace nw::ref

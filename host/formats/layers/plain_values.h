// SPDX-License-Identifier: MIT
// Dequantizes single weights by each format's formula, to check repacked tensors. Slow on purpose;
// shares no code with repack.cpp.
#pragma once
#include <cstddef>
#include <span>

#include "formats/layers/source_linear.h"

namespace nw {

// Row n of W, scales rounded to the dtype as the output's are.
void plain_row(const SourceLinear &, u32 n, Dtype, std::span<f64> w);

// A row of the kernels' layout: where its parts are.
struct PackedRow {
    std::span<const u32> weights; // K/8
    std::span<const u16> scales;  // K/G
    std::span<const u32> zeros;   // K/G dwords of eight rows, or empty: z = 8
    u32 row_of_eight = 0;         // which of these rows it is
    std::span<const u32> order;   // of columns, or empty
};
void plain_row(const PackedRow &, Dtype, std::span<f64> w);

} // namespace nw

// SPDX-License-Identifier: MIT
// Converts checkpoint layouts to the row layout of the kernels, a block of rows at a time.
#pragma once
#include <cstddef>
#include <span>

#include "formats/layers/source_linear.h"

namespace nw {

// Maximum rows of a block, and the alignment of its first row. Wide enough that a block's columns
// of a [K/8, N] or [K, N/8] tensor are whole cache lines.
inline constexpr u32 repack_rows = 256;

// All take rows first to first + rows - 1, and throw Error for an invalid value.

// Weights of row r at out + r * stride: K/2 bytes, nothing else is touched. With act_order column
// j of the output is column order[j] of the checkpoint.
void repack_weights(const SourceLinear &, u32 first, u32 rows, std::span<const u32> order,
                    std::byte *out, u64 stride);

// [rows, K/G], rounded to the dtype. Refuses NaN, infinities and values out of the dtype's range.
void repack_scales(const SourceLinear &, u32 first, u32 rows, Dtype, u16 *out);

// Dwords [ceil(rows/8), K/G], z of row n in bits 4*(n%8); zero past the last row.
void repack_zeros(const SourceLinear &, u32 first, u32 rows, u32 *out);

// [N], rounded; refused as scales are.
void repack_bias(const SourceLinear &, Dtype, u16 *out);

// k in the order of their groups, stable: the columns that make group_of[order[j]] = j / G.
std::vector<u32> group_order(const SourceLinear &);

} // namespace nw

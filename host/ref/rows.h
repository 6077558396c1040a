// SPDX-License-Identifier: MIT
// Rows read and written by index, and rows quantized as ggml's reference does.
#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "formats/gguf/gguf_types.h"

namespace nw::ref {

// Rows in three dimensions, the inner first.
struct RowLists {
    u64 k;
    std::array<u32, 3> n;
    u32 matrix_rows; // of x that rows are taken from, of y that they are written into
};

// y[i3,i2,i1] = row ids[i3,i2,i1] of matrix x[i3,i2] as f32; zeros where there is none. All are
// contiguous.
std::vector<f32> get_rows(GgmlType, std::span<const std::byte> x, std::span<const i32> ids,
                          const RowLists &);

// Row ids[i3 % lists[1], i2 % lists[0], i1] of matrix y[i3,i2] = x[i3,i2,i1] in y's type; nothing
// where there is none. All are contiguous.
void set_rows(GgmlType, std::span<const f32> x, std::span<const i64> ids,
              const std::array<u32, 2> &lists, std::span<std::byte> y, const RowLists &);

// A row as f32, f16 or bf16, to nearest even, or in blocks of q4_0, q4_1, q5_0, q5_1, q8_0 or
// iq4_nl. Throws Error for another type.
void quantize_row(GgmlType, std::span<const f32> x, std::byte *out);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// Activations as int8 or fp8 with a scale for each row: quantize_rows and quantize_fp8, in f32 as
// the kernels.
#pragma once
#include <span>
#include <vector>

#include "base/half.h"
#include "base/types.h"

namespace nw::ref {

// q is in the order of k; in_dword_order() has it as the kernels do.
struct QuantizedRows {
    std::vector<i8> q;      // [M, K]
    std::vector<f32> scale; // [M]: of max |x| / 127; 0 below 2^-126; NaN where x is not finite
};

// x [M, K], bits of dtype. Throws Error if its size is not m * k.
QuantizedRows quantize_rows(Dtype, std::span<const u16> x, u32 m, u32 k);

struct Fp8Rows {
    std::vector<u8> y;      // [M, K], e4m3
    std::vector<f32> scale; // [M]: of max |x| / 448; 0 below 2^-126; NaN where x is not finite
};
Fp8Rows quantize_fp8(Dtype, std::span<const u16> x, u32 m, u32 k);

// Each eight as 0 4 1 5 2 6 3 7.
std::vector<i8> in_dword_order(std::span<const i8> q);

} // namespace nw::ref

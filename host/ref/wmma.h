// SPDX-License-Identifier: MIT
// WMMA's sums of f16 products in f32, as isa_notes S-004 has them: products on a grid, cut off
// below it, and one rounding.
#pragma once
#include <span>
#include <string_view>

#include "base/types.h"

namespace nw::ref {

enum class WmmaSum {
    gfx11, // eight steps of two products
    gfx12, // four steps of four
};
// Throws Error for a gfx that is neither.
WmmaSum wmma_sum(std::string_view gfx);

// c + sum of a[i] * b[i], i in the order of the instruction's k: 16 values that f16 has, c an f32.
// Where any of them is not finite the result is the NaN or infinity that IEEE sums give.
f32 wmma(WmmaSum, std::span<const f32, 16> a, std::span<const f32, 16> b, f32 c);

} // namespace nw::ref

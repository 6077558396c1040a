// SPDX-License-Identifier: MIT
// WMMA's sums of f16 products in f32 by note S-004: products truncated to a fixed-point grid, then
// one rounding.
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

// c + sum of a[i] * b[i], i in the order of the instruction's k: 16 values in f16's range, c in
// f32. If any of them is not finite, the result is the NaN or infinity of an IEEE sum.
f32 wmma(WmmaSum, std::span<const f32, 16> a, std::span<const f32, 16> b, f32 c);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// Elementwise functions of two tensors of four dimensions.
#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::ref {

using Shape = std::array<u32, 4>; // the innermost dimension first

// c = a + b, a - b, a * b or a / b (function: add, sub, mul, div), rounded once; both contiguous, b
// repeated to a's shape. Throws Error where sizes don't fit.
std::vector<f32> binary(std::string_view function, std::span<const f32> a, Shape,
                        std::span<const f32> b, Shape b_shape);

} // namespace nw::ref

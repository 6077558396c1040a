// SPDX-License-Identifier: MIT
// Rows divided by their root mean square, in f64.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

// x [M, K], w [K] or empty: 1. y [M, K] = x * w / sqrt(mean of x^2 + eps). Throws Error where sizes
// don't fit.
std::vector<f64> rms_norm(std::span<const f32> x, std::span<const f32> w, u32 m, u32 k, f32 eps);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// Running sums, in f64.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

// y[i] = x[0] + ... + x[i]
std::vector<f64> cumsum(std::span<const f32> x);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// Rows brought to one size, in f64.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::ref {

// y = (x - mean) * r and r of one row. function: layer, rms, or l2. Throws Error where it is none.
struct NormRow {
    f64 mean = 0, r = 0;
    std::vector<f64> y;
};
NormRow norm_row(std::string_view function, std::span<const f32> x, f32 eps);

} // namespace nw::ref

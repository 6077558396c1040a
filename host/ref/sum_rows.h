// SPDX-License-Identifier: MIT
// Sums of a row, in f64.
#pragma once
#include <span>

#include "base/types.h"

namespace nw::ref {

struct RowSum {
    f64 sum = 0, of_sizes = 0; // of x, and of |x|
};
RowSum row_sum(std::span<const f32> x);

} // namespace nw::ref

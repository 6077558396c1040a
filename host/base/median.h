// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <vector>

#include "base/types.h"

namespace nw {

// Requires at least one value; of an even number of values the upper median.
inline f64 upper_median(std::vector<f64> values) {
    const auto middle = values.begin() + static_cast<i64>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

} // namespace nw

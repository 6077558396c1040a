// SPDX-License-Identifier: MIT
// Order of a row's elements.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

// Indices by x, ascending or descending, equal ones by themselves. -0 comes before 0, and NaN
// beyond infinity on the side of its sign (both descending: the other way round).
std::vector<i32> argsort(std::span<const f32> x, bool descending);

} // namespace nw::ref

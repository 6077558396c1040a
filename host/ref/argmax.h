// SPDX-License-Identifier: MIT
// Where a row's largest element is.
#pragma once
#include <span>

#include "base/types.h"

namespace nw::ref {

// The last of the largest; NaN is passed over. 0 of a row of nothing else.
i32 argmax(std::span<const f32> x);

} // namespace nw::ref

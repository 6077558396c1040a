// SPDX-License-Identifier: MIT
// Rows plus rows of another matrix that indices name.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

// c[i] = a[i] + b[ids[i]], rows of k; NaN where b has no such row.
std::vector<f32> add_id(std::span<const f32> a, std::span<const f32> b, std::span<const i32> ids,
                        u64 k);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// How far a moe_w4a16 kernel may be from the exact result: derived in moe_bound.cpp.
#pragma once
#include <vector>

#include "base/types.h"
#include "ref/moe.h"
#include "runtime/kernel.h"

namespace nw::check {

// The bound on |C - exact| of a slot's row before it is rounded to the dtype.
std::vector<f64> moe_bound(const Kernel &, const ref::MoeSlot &);

} // namespace nw::check

// SPDX-License-Identifier: MIT
// How far an output of mid_w4a16 may be from the exact product, before it is rounded to the dtype.
#pragma once
#include <vector>

#include "ref/prefill.h"
#include "runtime/kernel.h"

namespace nw::check {

// One for each element of C; derived in mid_bound.cpp.
std::vector<f64> mid_bound(const Kernel &, const ref::DecodeW4A16 &, const ref::PrefillResult &);

} // namespace nw::check

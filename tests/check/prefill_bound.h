// SPDX-License-Identifier: MIT
// How far a prefill_w4a16 or dot_w4a16 kernel may be from the exact result: derived in
// prefill_bound.cpp from the rounding of weights and from what WMMA, or f32 arithmetic, drops.
#pragma once
#include <vector>

#include "base/types.h"
#include "ref/prefill.h"
#include "runtime/kernel.h"

namespace nw::check {

// The bound on |C - exact| before C is rounded to the dtype, for every output.
std::vector<f64> prefill_bound(const Kernel &, const ref::DecodeW4A16 &,
                               const ref::PrefillResult &);

} // namespace nw::check

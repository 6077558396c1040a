// SPDX-License-Identifier: MIT
// How far a decode_w4a16 kernel may be from the exact result: derived in decode_bound.cpp from what
// DOT2 and f32 additions drop, for each way of dequantizing.
#pragma once
#include <vector>

#include "base/types.h"
#include "ref/decode.h"
#include "runtime/kernel.h"

namespace nw::check {

// The bound on |C - exact| before C is rounded to the dtype, for every output. Throws Error for a
// way of dequantizing whose bound nobody has derived.
std::vector<f64> decode_bound(const Kernel &, const ref::DecodeW4A16 &, const ref::DecodeResult &);

} // namespace nw::check

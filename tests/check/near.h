// SPDX-License-Identifier: MIT
// f32 values that are near exact ones, and what an operation adds to the distance.
#pragma once
#include <cmath>

#include "base/types.h"

namespace nw::check {

struct Near {
    f64 exact, off; // |value - exact| <= off
    f64 most() const { return std::fabs(exact) + off; }
};

// SiLU as the kernels have it: g * rcp(1 + exp2(-g * log2 e)).
Near silu(const Near &g);

// A product of two, rounded to f32.
Near times(const Near &, const Near &);

} // namespace nw::check

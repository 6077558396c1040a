// SPDX-License-Identifier: MIT
// f32 values that are near exact ones, and what an operation adds to the distance.
#pragma once
#include <cmath>
#include <vector>

#include "base/types.h"
#include "ref/prefill.h"

namespace nw::check {

struct Near {
    f64 exact, off; // |value - exact| <= off
    f64 most() const { return std::fabs(exact) + off; }
};

// SiLU as the kernels have it: g * rcp(1 + exp2(-g * log2 e)).
Near silu(const Near &g);

// A product of two, rounded to f32.
Near times(const Near &, const Near &);

// Of an exact result whose Y, of n columns, is off by `y`: how far C is off, be it Y or SiLU(gate)
// * up.
std::vector<f64> bound_of_c(const ref::PrefillResult &, u64 n, std::vector<f64> y);

} // namespace nw::check

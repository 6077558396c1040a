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

// Error of C, which is Y or SiLU(gate) * up, if Y, of n columns, has the error `y`; from the exact
// result.
std::vector<f64> bound_of_c(const ref::PrefillResult &, u64 n, std::vector<f64> y);

} // namespace nw::check

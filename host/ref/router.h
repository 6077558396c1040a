// SPDX-License-Identifier: MIT
// A router's product, and its choice of experts.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct Logits {
    std::vector<f64> values;
    std::vector<f64> sizes; // of each, the sum of its terms' absolute values
};

// sum over k of y[k] * w[e,k], plus bias[e], of one token; y = x, or with weights of a norm
// x[k] * norm[k] / sqrt(mean of x^2 + eps). norm and bias may be empty.
Logits router(std::span<const f32> x, std::span<const f32> norm, std::span<const f32> w,
              std::span<const f32> bias, u32 experts, f32 eps);

} // namespace nw::ref

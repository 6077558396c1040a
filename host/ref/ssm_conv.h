// SPDX-License-Identifier: MIT
// Short convolutions over tokens, in f64.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct SsmConv {
    u32 b, n, tokens, taps;
    bool silu;
};

// z[b, tokens, n] = sum_j x[i,c,t+j] * w[c,j] + bias[c] of x[b, n, tokens + taps - 1] and w[n,
// taps]; no bias: 0. With `magnitudes` the sums of their absolute values.
std::vector<f64> ssm_conv_sums(const SsmConv &, std::span<const f32> x, std::span<const f32> w,
                               std::span<const f32> bias, bool magnitudes = false);

} // namespace nw::ref

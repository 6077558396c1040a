// SPDX-License-Identifier: MIT
// A router's choice of experts and the weighted sum of what they give.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct Route {
    std::vector<i32> ids;
    std::vector<f64> weights; // of these
};

// The top_k experts of largest softmax of a token's logits, the lower number of equal ones first;
// normed: over the larger of their sum and `least`.
Route topk_moe(std::span<const f32> logits, u32 top_k, bool normed, f32 least, f32 scale);

// ((x[0,k] * w[0] + x[1,k] * w[1]) + ...) + bias[k] of x [top_k, k], rounded after each operation;
// bias may be empty.
std::vector<f32> moe_sum(std::span<const f32> x, std::span<const f32> w, std::span<const f32> bias,
                         u32 k);

} // namespace nw::ref

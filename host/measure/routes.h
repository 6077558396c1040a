// SPDX-License-Identifier: MIT
// Random routes of tokens to experts, in place of a router.
#pragma once
#include <span>
#include <vector>

#include "base/rng.h"
#include "base/types.h"

namespace nw {

// Experts of tokens, `top_k` of each one after the other, none twice; top_k <= experts.
std::vector<i32> random_routes(u32 tokens, u32 experts, u32 top_k, Rng);

// Number of slots of each expert.
std::vector<u32> slots_of_experts(std::span<const i32> routes, u32 experts);

} // namespace nw

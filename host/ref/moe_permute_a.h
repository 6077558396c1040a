// SPDX-License-Identifier: MIT
// The moe_permute_a family: the activations of each slot in the order of its expert.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct MoePermuteA {
    u32 k, block_size, slots, top_k;
    std::span<const u16> a;                    // [ceil(slots / top_k), K], any bits
    std::span<const u32> perm;                 // [experts, K]
    std::span<const i32> expert_ids;           // [blocks]; another id than an expert's: skipped
    std::span<const i32> sorted_token_ids;     // [blocks, block_size], or empty: 0, 1, 2, ...
    std::optional<u32> num_tokens_post_padded; // blocks that begin there or later are skipped
};

// y [slots, K]; rows of no slot have the value `untouched`. Throws Error if a span's size does not
// match the shape.
std::vector<u16> moe_permute_a(const MoePermuteA &, u16 untouched);

} // namespace nw::ref

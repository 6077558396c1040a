// SPDX-License-Identifier: MIT
// The moe_align family: the slots of each expert in MoE blocks.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct MoeLists {
    std::vector<i32> sorted_token_ids; // [blocks * block_size]; padding is the number of slots
    std::vector<i32> expert_ids;       // [blocks]; -1: unused block
    i32 num_tokens_post_padded;
};

// Throws Error if there are too few blocks.
MoeLists moe_align(std::span<const i32> topk_ids, u32 experts, u32 block_size, u32 blocks);

} // namespace nw::ref

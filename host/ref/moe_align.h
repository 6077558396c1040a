// SPDX-License-Identifier: MIT
// The moe_align family, list by list: the slots of each expert in blocks of one expert each.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct MoeLists {
    std::vector<i32> sorted_token_ids; // [blocks * block_size]; where no slot is, their number
    std::vector<i32> expert_ids;       // [blocks]; -1 where no expert is
    i32 num_tokens_post_padded;
};

// Throws Error where the blocks are too few.
MoeLists moe_align(std::span<const i32> topk_ids, u32 experts, u32 block_size, u32 blocks);

} // namespace nw::ref

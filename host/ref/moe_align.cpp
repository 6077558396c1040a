// SPDX-License-Identifier: MIT
#include "ref/moe_align.h"

#include <fmt/format.h>

#include "base/error.h"

namespace nw::ref {

MoeLists moe_align(std::span<const i32> topk_ids, u32 experts, u32 block_size, u32 blocks) {
    const i32 nothing = static_cast<i32>(topk_ids.size());
    MoeLists out;
    for (i32 expert = 0; expert < static_cast<i32>(experts); ++expert) {
        for (i32 slot = 0; slot < nothing; ++slot)
            if (topk_ids[static_cast<u64>(slot)] == expert)
                out.sorted_token_ids.push_back(slot);
        while (out.sorted_token_ids.size() % block_size != 0)
            out.sorted_token_ids.push_back(nothing);
        while (out.expert_ids.size() * block_size < out.sorted_token_ids.size())
            out.expert_ids.push_back(expert);
    }
    out.num_tokens_post_padded = static_cast<i32>(out.sorted_token_ids.size());
    if (out.expert_ids.size() > blocks)
        throw Error(fmt::format("blocks = {}: the slots take {}", blocks, out.expert_ids.size()));
    out.sorted_token_ids.resize(u64{blocks} * block_size, nothing);
    out.expert_ids.resize(blocks, -1);
    return out;
}

} // namespace nw::ref

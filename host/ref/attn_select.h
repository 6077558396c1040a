// SPDX-License-Identifier: MIT
// The attn_select family: which blocks of keys a block of queries attends to.
#pragma once
#include <span>
#include <vector>

#include "ref/attn_mean.h"

namespace nw::ref {

struct AttnRule {
    bool mass; // else peak
    f32 share;
    u32 sink, window, last_full;
};

struct AttnLists {
    std::vector<i32> idx; // [rows, blocks of queries, of keys], -1 after the last
    std::vector<i32> cnt; // [rows, blocks of queries]
};

// score: [rows, blocks of queries, of keys]; none is read of keys after the queries.
AttnLists attn_select(std::span<const f32> score, u32 rows, const AttnBlocks &, const AttnRule &);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// The attn_select family: which blocks of keys a block of queries attends to.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct AttnRule {
    bool mass; // else peak
    f32 share;
    u32 sink, window, last_full;
};

struct AttnLists {
    std::vector<i32> idx; // [rows, blocks, blocks], -1 after the last
    std::vector<i32> cnt; // [rows, blocks]
};

// score: [rows, blocks, blocks]; of n > m none is read.
AttnLists attn_select(std::span<const f32> score, u32 rows, u32 blocks, const AttnRule &);

} // namespace nw::ref

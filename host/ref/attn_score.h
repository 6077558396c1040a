// SPDX-License-Identifier: MIT
// The attn_score family: how much a block of queries attends to a block of keys.
#pragma once
#include <span>
#include <vector>

#include "ref/attn_mean.h"

namespace nw::ref {

struct AttnScoring {
    bool raw;      // relative to a block's own largest e; else to the largest of all
    bool all_rows; // the diagonal block is scored by all of its rows; else by its last one
    f32 scale;
    u32 keys; // the queries are the last of these tokens
};

struct AttnScores {
    std::vector<f64> score;  // [batch, heads, blocks of queries, of keys]; 0 of keys after
    std::vector<f64> extent; // [batch, heads, blocks of queries]: the largest finite |e|
};

// mean_k: [batch, blocks of keys, kv_heads, dim].
AttnScores attn_score(Dtype, const AttnTokens &q, std::span<const u16> mean_k, u32 kv_heads,
                      const AttnScoring &);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// The attn_pooled family: scores of blocks by their means alone.
#pragma once
#include <span>
#include <vector>

#include "ref/attn_mean.h"

namespace nw::ref {

struct AttnMeans {
    std::span<const u16> q; // [batch, blocks of queries, heads, dim]
    std::span<const u16> k; // [batch, blocks of keys, kv_heads, dim]
    u32 batch;
    AttnBlocks blocks;
    u32 heads, kv_heads, dim;
};

struct AttnPooled {
    std::vector<f64> score;    // [batch, heads, blocks of queries, of keys]; 0 of keys after
    std::vector<f64> products; // the same of the products' magnitudes
};

AttnPooled attn_pooled(Dtype, const AttnMeans &, f32 scale);

} // namespace nw::ref

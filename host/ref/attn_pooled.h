// SPDX-License-Identifier: MIT
// The attn_pooled family: scores of blocks by their means alone.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct AttnMeans {
    std::span<const u16> q; // [batch, blocks, heads, dim]
    std::span<const u16> k; // [batch, blocks, kv_heads, dim]
    u32 batch, blocks, heads, kv_heads, dim;
};

struct AttnPooled {
    std::vector<f64> score;    // [batch, heads, blocks, blocks]; 0 where n > m
    std::vector<f64> products; // the same of the products' magnitudes
};

AttnPooled attn_pooled(Dtype, const AttnMeans &, f32 scale);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// The attn_mean family, and how attention's tokens are stored.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

inline constexpr u32 attn_block = 128; // tokens of q or k

// Words of [batch, tokens, heads, dim]; strides in words, of dim 1.
struct AttnTokens {
    std::span<const u16> words;
    u32 batch, tokens, heads, dim;
    u64 batch_stride, token_stride, head_stride;

    u32 blocks() const { return ceil_div(tokens, attn_block); }
    u16 at(u32 b, u32 t, u32 h, u32 d) const {
        return words[b * batch_stride + t * token_stride + h * head_stride + d];
    }
};

// [batch, blocks, heads, dim]: means of the tokens of each block.
std::vector<u16> attn_mean(Dtype, const AttnTokens &);

} // namespace nw::ref

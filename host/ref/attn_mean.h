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

// Blocks of queries and of keys where the queries are the last tokens: query i has key i + sk - sq
// of its own.
struct AttnBlocks {
    u32 sq, sk;

    u32 of_queries() const { return ceil_div(sq, attn_block); }
    u32 of_keys() const { return ceil_div(sk, attn_block); }
    // The blocks with the own keys of the first and the last query of block m.
    u32 own(u32 m) const { return (sk - sq + m * attn_block) / attn_block; }
    u32 last(u32 m) const {
        const u32 end = (m + 1) * attn_block < sq ? (m + 1) * attn_block : sq;
        return (sk - sq + end - 1) / attn_block;
    }
};

// [batch, blocks, heads, dim]: means of the tokens of each block.
std::vector<u16> attn_mean(Dtype, const AttnTokens &);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// Tokens of attention for tests: [batch, tokens, heads, dim] in memory of any strides.
#pragma once
#include <span>
#include <vector>

#include "base/rng.h"
#include "base/types.h"
#include "ref/attn_mean.h"

namespace nw::check {

// Which of batch, tokens and heads is outermost; interleaved: q, k and v of a token are neighbours.
enum class AttnLayout { tokens_heads, heads_tokens, interleaved };

struct AttnCase {
    Dtype dtype;
    ref::AttnTokens x; // of `words`
    std::vector<u16> words;

    AttnCase(Dtype, u32 batch, u32 tokens, u32 heads, u32 dim,
             AttnLayout = AttnLayout::tokens_heads);
    AttnCase(const AttnCase &) = delete;

    u16 &at(u32 b, u32 t, u32 h, u32 d) {
        return words[b * x.batch_stride + t * x.token_stride + h * x.head_stride + d];
    }
    // Every element that belongs to a token becomes value(b, t, h, d); NaN stays between them.
    template <class Value> void fill(const Value &value) {
        for (u32 b = 0; b < x.batch; ++b)
            for (u32 t = 0; t < x.tokens; ++t)
                for (u32 h = 0; h < x.heads; ++h)
                    for (u32 d = 0; d < x.dim; ++d)
                        at(b, t, h, d) = value(b, t, h, d);
    }
    void fill_random(Rng &, f32 scale = 1);
};

} // namespace nw::check

// SPDX-License-Identifier: MIT
#include "attn_case.h"

#include "base/half.h"

namespace nw::check {

AttnCase::AttnCase(Dtype type, u32 batch, u32 tokens, u32 heads, u32 dim, AttnLayout layout)
    : dtype(type), x{{}, batch, tokens, heads, dim, 0, 0, 0} {
    switch (layout) {
    case AttnLayout::tokens_heads:
        x.head_stride = dim;
        x.token_stride = u64{heads} * dim;
        x.batch_stride = tokens * x.token_stride;
        break;
    case AttnLayout::heads_tokens:
        x.token_stride = dim;
        x.head_stride = u64{tokens} * dim + 8;
        x.batch_stride = heads * x.head_stride;
        break;
    case AttnLayout::interleaved:
        x.head_stride = dim + 16;
        x.token_stride = heads * x.head_stride + 3 * u64{dim};
        x.batch_stride = tokens * x.token_stride + 64;
        break;
    }
    const u64 last = (batch - 1) * x.batch_stride + (tokens - 1) * x.token_stride +
                     (heads - 1) * x.head_stride + dim;
    words.resize(last, nan_poison);
    x.words = words;
}

void AttnCase::fill_random(Rng &rng, f32 scale) {
    fill([&](u32, u32, u32, u32) { return round_to(dtype, scale * rng.normal()); });
}

} // namespace nw::check

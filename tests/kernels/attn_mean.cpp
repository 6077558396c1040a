// SPDX-License-Identifier: MIT
// attn_mean: every bit of every mean, of tokens with any strides.
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "attn_case.h"
#include "base/half.h"
#include "check/check.h"
#include "check/ops.h"

using namespace nw;
using check::AttnCase;
using check::AttnLayout;
using check::Region;
using check::Test;

namespace {

// One NaN for all.
std::vector<u16> with_one_nan(Dtype dtype, std::vector<u16> words) {
    for (u16 &word : words)
        if (std::isnan(to_f32(dtype, word)))
            word = nan_poison;
    return words;
}

void check_means(Test &t, const Kernel &kernel, const AttnCase &p, const char *what,
                 std::source_location where = std::source_location::current()) {
    const ref::AttnTokens &x = p.x;
    t.shape(fmt::format("batch={} tokens={} heads={} dim={} {}", x.batch, x.tokens, x.heads, x.dim,
                        what));
    const std::vector<u16> want = ref::attn_mean(p.dtype, x);
    const Region in = t.region<u16>(p.words),
                 out = t.region<u16>(std::vector<u16>(want.size(), nan_poison));
    Op op{.kind = OpKind::attn_mean};
    op.dtype = word_of(p.dtype);
    op.b = x.batch, op.tokens = x.tokens, op.h = x.heads, op.d = x.dim;
    op.x = address(in.data()), op.mean = address(out.data());
    op.x_b = 2 * x.batch_stride, op.x_s = 2 * x.token_stride;
    op.x_h = 2 * x.head_stride;
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("x", in, where);
    t.guards_clean("mean", out, where);
    t.same("mean", p.dtype, with_one_nan(p.dtype, out.read_as<u16>()), with_one_nan(p.dtype, want),
           where);
}

void random(Test &t, const Kernel &kernel, u32 batch, u32 tokens, u32 heads, u32 dim,
            AttnLayout layout = AttnLayout::tokens_heads) {
    AttnCase p(dtype_of(kernel), batch, tokens, heads, dim, layout);
    p.fill_random(t.rng);
    check_means(t, kernel, p, "random");
}

// Any bits: subnormals, infinities and NaN among them.
void any_bits(Test &t, const Kernel &kernel) {
    AttnCase p(dtype_of(kernel), 1, 300, 2, 64, AttnLayout::interleaved);
    p.fill([&](u32, u32, u32, u32) { return static_cast<u16>(t.rng.below(1 << 16)); });
    check_means(t, kernel, p, "any bits");
    p.fill([&](u32, u32, u32, u32 d) {
        return static_cast<u16>(t.rng.below(d < 32 ? 8 : 1 << 10) | t.rng.below(2) << 15);
    });
    check_means(t, kernel, p, "subnormal");
    // Sums that overflow, and those that cancel but for the last token of the block.
    const u16 largest = dtype_of(kernel) == Dtype::f16 ? 0x7bff : 0x7f7f;
    p.fill([&](u32, u32 token, u32, u32 d) {
        return static_cast<u16>(largest | (d % 2 && token % 2 ? 0x8000 : 0));
    });
    check_means(t, kernel, p, "largest");
}

// The order of the sum shows: a large token first, then many that are less than half an ulp of it.
void order(Test &t, const Kernel &kernel) {
    const Dtype dtype = dtype_of(kernel);
    AttnCase p(dtype, 1, 255, 1, 64);
    p.fill([&](u32, u32 token, u32, u32 d) {
        const f32 large = dtype == Dtype::f16 ? 32768 : 0x1p30f;
        return round_to(dtype, token % 128 == d ? large : large * 0x1p-25f);
    });
    check_means(t, kernel, p, "order");
}

} // namespace

CHECK_FAMILY(attn_mean) {
    if (t.entry)
        return random(t, kernel, 1, 129, 1, 64);
    random(t, kernel, 2, 257, 3, 64, AttnLayout::interleaved);
    random(t, kernel, 1, 128, 5, 256, AttnLayout::heads_tokens);
    if (t.checkers)
        return;
    for (u32 tokens : {1u, 15u, 16u, 17u, 127u, 128u, 129u, 255u, 256u, 1089u})
        for (u32 dim : {64u, 128u, 256u})
            random(t, kernel, 1, tokens, tokens % 3 + 1, dim);
    for (AttnLayout layout :
         {AttnLayout::tokens_heads, AttnLayout::heads_tokens, AttnLayout::interleaved})
        random(t, kernel, 3, 400, 8, 128, layout);
    any_bits(t, kernel);
    order(t, kernel);
}

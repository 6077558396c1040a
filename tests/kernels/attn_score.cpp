// SPDX-License-Identifier: MIT
// attn_score: scores against sums in f64, of the same means of keys.
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "attn_case.h"
#include "base/half.h"
#include "check/check.h"
#include "check/ops.h"
#include "ref/attn_score.h"

using namespace nw;
using check::AttnCase;
using check::AttnLayout;
using check::Region;
using check::Test;

namespace {

constexpr u32 untouched = 0xffc0ffee; // a NaN

struct Scoring {
    AttnCase q;
    ref::AttnBlocks of;
    u32 kv_heads;
    std::vector<u16> mean_k; // [batch, blocks of keys, kv_heads, dim]
    bool all_rows = false;
    f32 scale;

    Scoring(const Kernel &kernel, u32 batch, ref::AttnBlocks tokens, u32 heads, u32 kv,
            AttnLayout layout = AttnLayout::tokens_heads)
        : q(dtype_of(kernel), batch, tokens.sq, heads, kernel.p.d, layout), of(tokens),
          kv_heads(kv), mean_k(u64{batch} * tokens.of_keys() * kv * kernel.p.d),
          scale(1 / std::sqrt(static_cast<f32>(kernel.p.d))) {}

    // Logits of about `sigma`.
    Scoring &fill_random(Rng &rng, f32 sigma) {
        q.fill_random(rng);
        for (u16 &word : mean_k)
            word = round_to(q.dtype, sigma * rng.normal());
        return *this;
    }
    u16 *mean(u32 n, u32 h = 0) { return &mean_k[(u64{n} * kv_heads + h) * q.x.dim]; }
};

void compare(Test &t, const std::vector<u32> &got, const ref::AttnScores &want,
             const ref::AttnBlocks &of, std::source_location where) {
    const u32 blocks = of.of_keys(), tiles = of.of_queries();
    for (u64 row = 0; row < want.extent.size(); ++row) {
        const f64 relative = 1e-5 * (1 + want.extent[row]);
        for (u64 n = 0; n < blocks; ++n) {
            const u64 at = row * blocks + n;
            const f64 value = std::bit_cast<f32>(got[at]), wanted = want.score[at];
            const bool ok = n > of.last(row % tiles) ? got[at] == untouched
                            : std::isnan(wanted)
                                ? std::isnan(value)
                                : std::abs(value - wanted) <= relative * wanted + 0x1p-126;
            if (!ok)
                return t.fail(
                    fmt::format(
                        "score[{}][{}][{}] is {} (0x{:08x}), not {}, {} of which may be off",
                        row / tiles, row % tiles, n, value, got[at], wanted, relative),
                    where);
        }
    }
}

void check_scores(Test &t, const Kernel &kernel, const Scoring &p, const char *what,
                  std::source_location where = std::source_location::current()) {
    const ref::AttnTokens &x = p.q.x;
    t.shape(fmt::format("batch={} sq={} sk={} heads={} kv_heads={} all_rows={} {}", x.batch,
                        x.tokens, p.of.sk, x.heads, p.kv_heads, p.all_rows, what));
    const u64 count = u64{x.batch} * x.heads * p.of.of_queries() * p.of.of_keys();
    const Region q = t.region<u16>(p.q.words), mean_k = t.region<u16>(p.mean_k),
                 score = t.region<u32>(std::vector<u32>(count, untouched));
    Op op{.kind = OpKind::attn_score};
    op.mode = kernel.p.mode, op.dtype = word_of(p.q.dtype), op.d = x.dim;
    op.b = x.batch, op.sq = x.tokens, op.sk = p.of.sk, op.h = x.heads, op.hk = p.kv_heads;
    op.q = address(q.data()), op.mean_k = address(mean_k.data()), op.score = address(score.data());
    op.q_b = 2 * x.batch_stride, op.q_s = 2 * x.token_stride;
    op.q_h = 2 * x.head_stride;
    op.all_rows = p.all_rows, op.scale = std::bit_cast<u32>(p.scale);
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("q", q, where);
    t.unchanged("mean_k", mean_k, where);
    t.guards_clean("score", score, where);
    const bool raw = kernel.p.mode == word("raw");
    const ref::AttnScores want =
        ref::attn_score(p.q.dtype, x, p.mean_k, p.kv_heads, {raw, p.all_rows, p.scale, p.of.sk});
    compare(t, score.read_as<u32>(), want, p.of, where);
}

void random(Test &t, const Kernel &kernel, ref::AttnBlocks tokens, u32 heads, u32 kv_heads,
            AttnLayout layout = AttnLayout::tokens_heads, u32 batch = 1, bool all_rows = false) {
    Scoring p(kernel, batch, tokens, heads, kv_heads, layout);
    p.all_rows = all_rows;
    check_scores(t, kernel, p.fill_random(t.rng, 2), "random");
}

void random(Test &t, const Kernel &kernel, u32 tokens, u32 heads, u32 kv_heads,
            AttnLayout layout = AttnLayout::tokens_heads, u32 batch = 1, bool all_rows = false) {
    random(t, kernel, ref::AttnBlocks{tokens, tokens}, heads, kv_heads, layout, batch, all_rows);
}

// The queries are the last tokens; whether or not their blocks begin where blocks of keys do.
void fewer_queries(Test &t, const Kernel &kernel) {
    for (const ref::AttnBlocks &of : {ref::AttnBlocks{1, 128},
                                      {1, 129},
                                      {128, 2048},
                                      {127, 2048},
                                      {128, 2047},
                                      {129, 2049},
                                      {300, 1000},
                                      {255, 256},
                                      {385, 512},
                                      {200, 2050}})
        for (const bool all_rows : {false, true})
            random(t, kernel, of, 2, 1, AttnLayout::tokens_heads, 1, all_rows);
    random(t, kernel, ref::AttnBlocks{140, 17 * 128 + 9}, 2, 2, AttnLayout::heads_tokens, 2);
}

// Every row counts once, and to the bit: 128 of a block before, 1 or 128 of the last.
void no_queries(Test &t, const Kernel &kernel) {
    for (const bool all_rows : {false, true}) {
        Scoring p(kernel, 1, {3 * 128, 3 * 128}, 1, 1);
        p.fill_random(t.rng, 2).q.fill([](u32, u32, u32, u32) { return u16{0}; });
        p.all_rows = all_rows;
        check_scores(t, kernel, p, "queries of 0");
    }
}

// A key that one row finds; scores that fall and rise by block; scores far apart.
void steep(Test &t, const Kernel &kernel) {
    Scoring p(kernel, 1, {700, 700}, 2, 1);
    p.fill_random(t.rng, 30);
    check_scores(t, kernel, p, "large");
    p.fill_random(t.rng, 1);
    for (u32 d = 0; d < p.q.x.dim; ++d)
        p.mean(1)[d] = round_to(p.q.dtype, 20 * to_f32(p.q.dtype, p.q.at(0, 401, 1, d)));
    check_scores(t, kernel, p, "needle");
    for (const f32 sign : {1.0f, -1.0f}) {
        for (u32 n = 0; n < p.q.x.blocks(); ++n)
            for (u32 d = 0; d < p.q.x.dim; ++d)
                p.mean(n)[d] =
                    round_to(p.q.dtype, sign * static_cast<f32>(n) + 0.1f * t.rng.normal());
        p.q.fill(
            [&](u32, u32, u32, u32) { return round_to(p.q.dtype, 1 + 0.1f * t.rng.normal()); });
        check_scores(t, kernel, p, sign > 0 ? "rising" : "falling");
    }
}

void odd_values(Test &t, const Kernel &kernel) {
    const u16 nan = 0x7fff,
              infinity = round_to(dtype_of(kernel), std::numeric_limits<f64>::infinity());
    for (const u16 value : {nan, infinity, static_cast<u16>(infinity | 0x8000)}) {
        Scoring p(kernel, 1, {600, 600}, 1, 1);
        p.fill_random(t.rng, 2).mean(2)[7] = value;
        check_scores(t, kernel, p, "a mean that is not finite");
        p.fill_random(t.rng, 2).q.at(0, 300, 0, 5) = value;
        check_scores(t, kernel, p, "a query that is not finite");
        // Every e of a block is the same infinity.
        p.fill_random(t.rng, 2).q.fill([&](u32, u32, u32, u32) { return round_to(p.q.dtype, 1); });
        p.mean(1)[0] = value;
        check_scores(t, kernel, p, "a block that is not finite");
    }
}

} // namespace

CHECK_FAMILY(attn_score) {
    if (t.entry)
        return random(t, kernel, 129, 1, 1);
    random(t, kernel, 257, 2, 1, AttnLayout::interleaved, 2);
    if (t.checkers)
        return random(t, kernel, 17 * 128, 1, 1);
    for (u32 tokens : {1u, 127u, 128u, 129u, 255u, 256u, 1089u})
        for (const bool all_rows : {false, true})
            random(t, kernel, tokens, 1, 1, AttnLayout::tokens_heads, 1, all_rows);
    for (u32 heads : {1u, 2u, 4u, 8u})
        random(t, kernel, 300, heads, 1);
    random(t, kernel, 300, 6, 3, AttnLayout::heads_tokens, 2);
    if (kernel.p.d == 64 && kernel.p.mode == word("canonical"))
        random(t, kernel, 130 * 128 + 1, 1, 1); // several tiles to a wave
    fewer_queries(t, kernel);
    no_queries(t, kernel);
    steep(t, kernel);
    odd_values(t, kernel);
}

// SPDX-License-Identifier: MIT
// attn_select: every word of idx and cnt, of any scores.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "check/check.h"
#include "check/ops.h"
#include "ref/attn_select.h"

using namespace nw;
using check::Region;
using check::Test;
using ref::AttnRule;

namespace {

constexpr f32 infinity = std::numeric_limits<f32>::infinity(),
              nan = std::numeric_limits<f32>::quiet_NaN();
constexpr i32 untouched = 0x5eedf00d;

struct Scores {
    u32 batch, heads;
    ref::AttnBlocks of;
    std::vector<f32> score; // [batch, heads, tiles, blocks]; NaN of keys after the queries

    Scores(u32 b, u32 h, ref::AttnBlocks tokens)
        : batch(b), heads(h), of(tokens),
          score(u64{b} * h * tokens.of_queries() * tokens.of_keys(), nan) {}
    Scores(u32 b, u32 h, u32 n) : Scores(b, h, {128 * n - 5, 128 * n - 5}) {}
    u32 rows() const { return batch * heads; }
    template <class Value> Scores &fill(const Value &value) {
        for (u64 row = 0; row < rows(); ++row)
            for (u32 m = 0; m < of.of_queries(); ++m)
                for (u32 n = 0; n <= of.last(m); ++n)
                    score[(row * of.of_queries() + m) * of.of_keys() + n] = value(m, n);
        return *this;
    }
};

void check_lists(Test &t, const Kernel &kernel, const Scores &p, f32 share, const char *what,
                 AttnRule rule = {false, 0, 2, 4, 2},
                 std::source_location where = std::source_location::current()) {
    rule.mass = kernel.p.rule == word("mass");
    rule.share = share;
    t.shape(fmt::format("batch={} heads={} sq={} sk={} share={} sink={} window={} last_full={} {}",
                        p.batch, p.heads, p.of.sq, p.of.sk, share, rule.sink, rule.window,
                        rule.last_full, what));
    const ref::AttnLists want = ref::attn_select(p.score, p.rows(), p.of, rule);
    const Region score = t.region<f32>(p.score),
                 idx = t.region<i32>(std::vector<i32>(want.idx.size(), untouched)),
                 cnt = t.region<i32>(std::vector<i32>(want.cnt.size(), untouched));
    Op op{.kind = OpKind::attention_select};
    op.rule = kernel.p.rule;
    op.b = p.batch, op.h = p.heads, op.sq = p.of.sq, op.sk = p.of.sk;
    op.score = address(score.data()), op.idx = address(idx.data()), op.cnt = address(cnt.data());
    op.sink = rule.sink, op.window = rule.window, op.last_full = rule.last_full;
    op.share = std::bit_cast<u32>(share);
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("score", score, where);
    t.holds("idx", idx, want.idx, where);
    t.holds("cnt", cnt, want.cnt, where);
}

// As attn_score makes them: most of a row's sum in few blocks.
Scores peaked(Rng &rng, Scores p) {
    return p.fill([&](u32, u32) { return 128 * std::exp2(-12 * rng.unit()); });
}
Scores peaked(Rng &rng, u32 batch, u32 heads, u32 blocks) {
    return peaked(rng, Scores(batch, heads, blocks));
}

constexpr AttnRule nothing_forced = {false, 0, 0, 0, 0};

void rules(Test &t, const Kernel &kernel) {
    const Scores p = peaked(t.rng, 1, 2, 35);
    const u32 all = std::numeric_limits<u32>::max();
    for (const AttnRule &rule : {AttnRule{false, 0, 0, 0, 0}, AttnRule{false, 0, 1, 1, 0},
                                 AttnRule{false, 0, 0, 1, 1}, AttnRule{false, 0, all, 0, 0},
                                 AttnRule{false, 0, 0, all, 0}, AttnRule{false, 0, 0, 0, all},
                                 AttnRule{false, 0, 0, 0, 34}, AttnRule{false, 0, 0, 0, 35}})
        check_lists(t, kernel, p, 0.3f, "rules", rule);
    for (f32 share : {0.0f, 0x1p-149f, 0.12f, 0.5f, 0.95f, 1 - 0x1p-24f, 1.0f})
        check_lists(t, kernel, p, share, "shares", nothing_forced);
}

// The queries are the last tokens; whether or not their blocks begin where blocks of keys do.
void fewer_queries(Test &t, const Kernel &kernel) {
    for (const ref::AttnBlocks &of : {ref::AttnBlocks{1, 129},
                                      {1, 128},
                                      {128, 4096},
                                      {128, 4095},
                                      {129, 4096},
                                      {127, 1000},
                                      {300, 1000},
                                      {257, 258},
                                      {2000, 2001},
                                      {2000, 2127},
                                      {2000, 2128},
                                      {640, 1289}}) {
        const Scores p = peaked(t.rng, Scores(1, 2, of));
        check_lists(t, kernel, p, 0.3f, "fewer queries");
        for (u32 window : {0u, 1u, 2u, std::numeric_limits<u32>::max()})
            check_lists(t, kernel, p, 1.0f, "fewer queries", {false, 0, 0, window, 1});
    }
}

// Equal scores: at share * top exactly, an ulp off, and all alike.
void ties(Test &t, const Kernel &kernel) {
    const f32 share = 0.12f, top = 100, least = share * top;
    const std::array around = {std::nextafter(least, 0.0f), least, std::nextafter(least, top)};
    Scores p(1, 1, 40);
    p.fill([&](u32 m, u32 n) { return n == m / 2 ? top : around[t.rng.below(3)]; });
    check_lists(t, kernel, p, share, "at the share of the peak", nothing_forced);
    p.fill([](u32, u32) { return 128.0f; });
    for (f32 part : {0.0f, 0.25f, 0.9f, 1 - 0x1p-24f, 1.0f})
        check_lists(t, kernel, p, part, "all equal", nothing_forced);
    p.fill([&](u32, u32) { return static_cast<f32>(1 + t.rng.below(3)); });
    for (f32 part : {0.1f, 0.5f, 0.75f})
        check_lists(t, kernel, p, part, "three values", nothing_forced);
}

void odd_values(Test &t, const Kernel &kernel) {
    const std::array values = {nan,   infinity,  -infinity, 0.0f, -0.0f,
                               -1.0f, 0x1p-149f, 3e38f,     1.0f, 2.0f};
    for (const size_t count : {size_t{1}, size_t{3}, values.size()})
        for (f32 share : {0.0f, 0.5f, 1.0f}) {
            Scores p(1, 1, 37);
            p.fill([&](u32 m, u32) { return values[(m + t.rng.below(count)) % values.size()]; });
            check_lists(t, kernel, p, share, "odd values", nothing_forced);
            check_lists(t, kernel, p, share, "odd values");
        }
    Scores p(1, 1, 20);
    check_lists(t, kernel, p.fill([&](u32, u32) { return -1 - t.rng.unit(); }), 0.95f, "negative");
    check_lists(t, kernel, p.fill([](u32, u32) { return nan; }), 0.5f, "NaN");
    check_lists(t, kernel, p.fill([](u32, u32) { return -infinity; }), 0.5f, "-inf");
    check_lists(t, kernel, p.fill([](u32, u32) { return 0.0f; }), 0.5f, "zero", nothing_forced);
    p.fill([&](u32, u32) { return 0x1p-149f * static_cast<f32>(t.rng.below(9)); });
    check_lists(t, kernel, p, 0.5f, "subnormal", nothing_forced);
    p.fill([&](u32, u32) { return 2e38f + 1e38f * t.rng.unit(); });
    check_lists(t, kernel, p, 0.5f, "sums that overflow", nothing_forced);
}

} // namespace

CHECK_FAMILY(attn_select) {
    if (t.entry)
        return check_lists(t, kernel, peaked(t.rng, 1, 1, 2), 0.5f, "entry", nothing_forced);
    check_lists(t, kernel, peaked(t.rng, 2, 1, 35), 0.12f, "every path");
    if (t.checkers)
        return;
    for (u32 blocks : {1u, 2u, 6u, 31u, 32u, 33u, 64u, 129u})
        check_lists(t, kernel, peaked(t.rng, 1, 2, blocks), 0.12f, "random");
    check_lists(t, kernel, peaked(t.rng, 1, 1, 257), 0.8f, "random");
    fewer_queries(t, kernel);
    rules(t, kernel);
    ties(t, kernel);
    odd_values(t, kernel);
}

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
    u32 batch, heads, blocks;
    std::vector<f32> score; // [batch, heads, blocks, blocks]; NaN where n > m

    Scores(u32 b, u32 h, u32 n) : batch(b), heads(h), blocks(n), score(u64{b} * h * n * n, nan) {}
    u32 rows() const { return batch * heads; }
    template <class Value> Scores &fill(const Value &value) {
        for (u64 row = 0; row < rows(); ++row)
            for (u64 m = 0; m < blocks; ++m)
                for (u64 n = 0; n <= m; ++n)
                    score[(row * blocks + m) * blocks + n] =
                        value(static_cast<u32>(m), static_cast<u32>(n));
        return *this;
    }
};

void check_lists(Test &t, const Kernel &kernel, const Scores &p, f32 share, const char *what,
                 AttnRule rule = {false, 0, 2, 4, 2},
                 std::source_location where = std::source_location::current()) {
    rule.mass = kernel.p.rule == word("mass");
    rule.share = share;
    t.shape(fmt::format("batch={} heads={} blocks={} share={} sink={} window={} last_full={} {}",
                        p.batch, p.heads, p.blocks, share, rule.sink, rule.window, rule.last_full,
                        what));
    const ref::AttnLists want = ref::attn_select(p.score, p.rows(), p.blocks, rule);
    const Region score = t.region<f32>(p.score),
                 idx = t.region<i32>(std::vector<i32>(want.idx.size(), untouched)),
                 cnt = t.region<i32>(std::vector<i32>(want.cnt.size(), untouched));
    Op op{.kind = OpKind::attention_select};
    op.rule = kernel.p.rule;
    op.b = p.batch, op.h = p.heads, op.sq = 128 * u64{p.blocks} - 5;
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
Scores peaked(Rng &rng, u32 batch, u32 heads, u32 blocks) {
    return Scores(batch, heads, blocks).fill([&](u32, u32) {
        return 128 * std::exp2(-12 * rng.unit());
    });
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
    rules(t, kernel);
    ties(t, kernel);
    odd_values(t, kernel);
}

// SPDX-License-Identifier: MIT
#include "ref/attn_select.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace nw::ref {

namespace {

constexpr f32 infinity = std::numeric_limits<f32>::infinity();

std::vector<bool> above_peak(std::span<const f32> score, f32 share) {
    f32 top = -infinity;
    for (f32 s : score)
        if (s > top)
            top = s;
    const f32 least = share * top;
    std::vector<bool> kept(score.size());
    for (size_t n = 0; n < score.size(); ++n)
        // share = 0 of infinity is NaN: then only infinity is as large as its share.
        kept[n] = top > -infinity && (std::isnan(least) ? score[n] == infinity : score[n] >= least);
    return kept;
}

// Sum over the set, in the order of the contract.
f32 sum_of(std::span<const f32> weight, const std::vector<bool> &in) {
    std::array<f32, 32> lane{};
    for (size_t n = 0; n < weight.size(); ++n)
        if (in[n])
            lane[n / 4 % 32] += weight[n];
    for (const size_t away : {1, 2, 4, 8, 16}) {
        const std::array<f32, 32> before = lane;
        for (size_t l = 0; l < 32; ++l)
            lane[l] = before[l] + before[l ^ away];
    }
    return lane[0];
}

std::vector<bool> share_of_mass(std::span<const f32> score, f32 share) {
    std::vector<f32> weight(score.begin(), score.end());
    for (f32 &w : weight)
        if (!(w > 0))
            w = 0;
    std::vector<u32> order(weight.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](u32 a, u32 b) { return weight[a] > weight[b]; });
    const f32 product = share * sum_of(weight, std::vector<bool>(weight.size(), true));
    const f32 aim = std::isnan(product) ? 0 : product; // 0 * infinity
    std::vector<bool> kept(weight.size());
    for (size_t i = 0; i < order.size() && sum_of(weight, kept) < aim; ++i)
        kept[order[i]] = true;
    return kept;
}

} // namespace

AttnLists attn_select(std::span<const f32> score, u32 rows, const AttnBlocks &of,
                      const AttnRule &rule) {
    const u64 blocks = of.of_keys(), tiles = of.of_queries();
    AttnLists out;
    for (u64 row = 0; row < rows; ++row)
        for (u32 m = 0; m < tiles; ++m) {
            const u64 own = of.own(m), last = of.last(m);
            const std::span<const f32> mine = score.subspan((row * tiles + m) * blocks, last + 1);
            const std::vector<bool> kept =
                rule.mass ? share_of_mass(mine, rule.share) : above_peak(mine, rule.share);
            const size_t begin = out.idx.size();
            for (u64 n = 0; n <= last; ++n)
                if (kept[n] || n < rule.sink || (rule.window && n + rule.window > own) ||
                    u64{m} + rule.last_full >= tiles)
                    out.idx.push_back(static_cast<i32>(n));
            out.cnt.push_back(static_cast<i32>(out.idx.size() - begin));
            out.idx.resize(begin + blocks, -1);
        }
    return out;
}

} // namespace nw::ref

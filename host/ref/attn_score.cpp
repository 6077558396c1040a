// SPDX-License-Identifier: MIT
#include "ref/attn_score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/half.h"

namespace nw::ref {

namespace {

constexpr f64 infinity = std::numeric_limits<f64>::infinity();

struct Row {
    u32 b, h, m;
};

// e of the rows of a block of queries that see a block of keys.
std::vector<f64> exponents(Dtype dtype, const AttnTokens &q, std::span<const u16> mean,
                           const Row &row, u32 n, const AttnScoring &p) {
    std::vector<f64> out;
    const u32 first = row.m * attn_block, end = std::min(first + attn_block, q.tokens);
    for (u32 i = first; i < end; ++i) {
        if (i + p.keys - q.tokens < n * attn_block + (p.all_rows ? 0 : attn_block - 1))
            continue;
        f64 dot = 0;
        for (u32 d = 0; d < q.dim; ++d)
            dot += f64{to_f32(dtype, q.at(row.b, i, row.h, d))} * to_f32(dtype, mean[d]);
        out.push_back(f64{p.scale} * std::numbers::log2e * dot);
    }
    return out;
}

// NaN is never the largest.
f64 largest(std::span<const f64> values) {
    f64 top = -infinity;
    for (f64 v : values)
        top = std::fmax(top, v);
    return top;
}

f64 sum_of_powers(std::span<const f64> e, f64 top) {
    f64 sum = 0;
    for (f64 v : e)
        sum += v == -infinity ? 0 : std::exp2(v - top);
    return sum;
}

} // namespace

AttnScores attn_score(Dtype dtype, const AttnTokens &q, std::span<const u16> mean_k, u32 kv_heads,
                      const AttnScoring &p) {
    const AttnBlocks of{q.tokens, p.keys};
    const u32 blocks = of.of_keys();
    AttnScores out;
    for (u32 b = 0; b < q.batch; ++b)
        for (u32 h = 0; h < q.heads; ++h)
            for (u32 m = 0; m < of.of_queries(); ++m) {
                std::vector<std::vector<f64>> e;
                f64 top = -infinity, extent = 0;
                for (u32 n = 0; n <= of.last(m); ++n) {
                    const u64 kv = h / (q.heads / kv_heads);
                    const u64 at = ((u64{b} * blocks + n) * kv_heads + kv) * q.dim;
                    e.push_back(exponents(dtype, q, mean_k.subspan(at, q.dim), {b, h, m}, n, p));
                    top = std::fmax(top, largest(e.back()));
                    for (f64 v : e.back())
                        if (std::isfinite(v))
                            extent = std::max(extent, std::abs(v));
                }
                for (u32 n = 0; n < blocks; ++n)
                    out.score.push_back(
                        n < e.size() ? sum_of_powers(e[n], p.raw ? largest(e[n]) : top) : 0);
                out.extent.push_back(extent);
            }
    return out;
}

} // namespace nw::ref

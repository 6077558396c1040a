// SPDX-License-Identifier: MIT
#include "kernels/heads_case.h"

#include "ref/rms_norm.h"

namespace nw::check {

Head head_of(const Heads &p, std::span<const f32> x, std::span<const i32> positions) {
    std::vector<f32> z(x.begin(), x.end());
    const f64 relative = p.w ? 0x1p-20 : 0;
    if (p.w) {
        const std::vector<f64> normed = ref::rms_norm(x, *p.w, 1, p.d, heads_eps);
        z.assign(normed.begin(), normed.end());
    }
    Head out;
    out.y = p.pairs
                ? ref::rope_row(z, ref::rope_frequencies({.pairs = p.pairs}), positions, p.neox, 1)
                : std::vector<f64>(z.begin(), z.end());
    for (u64 i = 0; i < p.d; ++i) {
        const u64 j = p.neox ? i % std::max(p.pairs, 1u) : i / 2;
        const u64 a = p.neox ? j : 2 * j, b = p.neox ? j + p.pairs : 2 * j + 1;
        const bool rest = i >= 2 * p.pairs;
        const f64 sum = rest ? std::fabs(z[i]) : std::fabs(z[a]) + std::fabs(z[b]);
        out.most.push_back(sum * (relative + (rest ? 0 : 0x1p-21 + 0x1p-22)));
    }
    return out;
}

std::vector<i64> rows_of_cache(Rng &rng, u32 tokens, u32 rows, bool outside) {
    std::vector<i64> out(tokens);
    const u32 start = rng.below(rows);
    for (u32 i = 0; i < tokens; ++i)
        out[i] = (start + 3 * i) % rows;
    if (outside)
        out[0] = -1, out[1] = rows;
    return out;
}

} // namespace nw::check

// SPDX-License-Identifier: MIT
#include "ref/attn_forward.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ref/running_sums.h"

namespace nw::ref {

namespace {

constexpr u32 block = 128;
constexpr f64 infinity = std::numeric_limits<f64>::infinity();

struct Row {
    u32 b, i, h;
};

// Number of times that a row sees each key.
std::vector<u32> times_seen(const AttnForward &a, const Row &r) {
    const u32 tiles = (a.sq + block - 1) / block, blocks = (a.sk + block - 1) / block,
              entries = a.entries ? a.entries : blocks;
    const u64 list = (u64{r.b} * a.h + r.h) * tiles + r.i / block;
    std::vector<u32> of_block(blocks, a.idx.empty() ? 1 : 0), out(a.sk, 0);
    if (!a.idx.empty())
        for (i64 e = 0; e < std::min<i64>(a.cnt[list], entries); ++e)
            if (const i32 n = a.idx[list * entries + static_cast<u64>(e)];
                n >= 0 && n < static_cast<i32>(blocks))
                ++of_block[static_cast<u32>(n)];
    const i64 behind = a.causal ? i64{r.i} + a.sk - a.sq + 1 : a.sk;
    for (u32 j = 0; j < a.sk && j < behind; ++j)
        out[j] = of_block[j / block];
    return out;
}

// Rows s of a head, [rows, d].
std::vector<f64> values(const AttnForward &a, const AttnTensor &t, u32 b, u32 h, u32 s, u32 rows) {
    std::vector<f64> out;
    for (u32 i = s; i < s + rows; ++i)
        for (u32 d = 0; d < a.d; ++d)
            out.push_back(to_f32(a.dtype, t.words[b * t.b + i * t.s + h * t.h + d]));
    return out;
}

// Keys and values of a key head.
struct Keys {
    std::vector<f64> k, v; // [sk, d]
};

// The product, and that of magnitudes.
std::pair<f64, f64> dot_of(const std::vector<f64> &q, const f64 *k) {
    RunningSums dot, size;
    for (u32 d = 0; d < q.size(); d += RunningSums::count)
        for (u32 i = 0; i < RunningSums::count; ++i) {
            const f64 x = q[d + i] * k[d + i];
            dot.add(i, x), size.add(i, std::abs(x));
        }
    return {dot.total(), size.total()};
}

void row(const AttnForward &a, const Row &r, const Keys &keys, AttnResult &out) {
    const u64 at_row = (u64{r.b} * a.h + r.h) * a.sq + r.i,
              at_o = ((u64{r.b} * a.sq + r.i) * a.h + r.h) * a.d;
    const std::vector<u32> seen = times_seen(a, r);
    const std::vector<f64> q = values(a, a.q, r.b, r.h, r.i, 1);
    std::vector<f64> s(a.sk, -infinity);
    f64 most = -infinity, sum = 0;
    bool nan = false;
    for (u32 j = 0; j < a.sk; ++j) {
        if (!seen[j])
            continue;
        const auto [dot, size] = dot_of(q, &keys.k[u64{j} * a.d]);
        s[j] = dot * f64{a.scale};
        nan |= std::isnan(s[j]) || s[j] == infinity;
        most = std::max(most, s[j]);
        out.dot[at_row] = std::max(out.dot[at_row], size * f64{a.scale});
        out.keys[at_row] += seen[j];
    }
    std::vector<f64> o(a.d), abs(a.d), small(a.d);
    for (u32 j = 0; j < a.sk; ++j) {
        const f64 p = seen[j] && s[j] > -infinity ? seen[j] * std::exp(s[j] - most) : 0;
        sum += p;
        if (!(p > 0))
            continue;
        const f64 full = std::min(p, seen[j] * a.least_p);
        for (u32 d = 0; d < a.d; ++d) {
            const f64 v = keys.v[u64{j} * a.d + d];
            o[d] += p * v, abs[d] += p * std::abs(v), small[d] += full * std::abs(v);
        }
    }
    out.lse[at_row] = nan ? NAN : sum > 0 ? most + std::log(sum) : -infinity;
    for (u32 d = 0; d < a.d; ++d) {
        out.o[at_o + d] = nan ? NAN : sum > 0 ? o[d] / sum : 0;
        out.abs[at_o + d] = sum > 0 ? abs[d] / sum : 0;
        out.small[at_o + d] = sum > 0 ? small[d] / sum : 0;
    }
}

} // namespace

AttnResult attn_forward(const AttnForward &a) {
    const u64 rows = u64{a.b} * a.sq * a.h;
    AttnResult out;
    out.o.resize(rows * a.d);
    out.abs.resize(rows * a.d);
    out.small.resize(rows * a.d);
    out.lse.resize(rows);
    out.dot.resize(rows);
    out.keys.resize(rows);
    for (u32 b = 0; b < a.b; ++b)
        for (u32 kv = 0; kv < a.hk; ++kv) {
            const u32 group = a.h / a.hk;
            const Keys keys{values(a, a.k, b, kv, 0, a.sk), values(a, a.v, b, kv, 0, a.sk)};
            for (u32 h = kv * group; h < (kv + 1) * group; ++h)
                for (u32 i = 0; i < a.sq; ++i)
                    row(a, {b, i, h}, keys, out);
        }
    return out;
}

} // namespace nw::ref

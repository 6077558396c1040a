// SPDX-License-Identifier: MIT
#include "ref/attn_flash.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ref/need_size.h"
#include "ref/soft_max.h"

namespace nw::ref {

namespace {

constexpr f64 infinity = std::numeric_limits<f64>::infinity();
constexpr f64 negligible = 40; // below the largest logit: p is less than 2^-57

struct Row {
    u32 b, i, h;
    u64 number; // of [b, sq, h]
};

// A logit, and the sum of its terms' sizes.
struct Logit {
    f64 z, size;
};

Logit logit(const AttnFlash &a, const Row &r, u64 key_row, f64 mask) {
    f64 dot = 0, size = 0;
    for (u32 e = 0; e < a.d; ++e) {
        const f64 x = f64{a.q[r.number * a.d + e]} * a.k[key_row * a.d + e];
        dot += x, size += std::abs(x);
    }
    f64 z = dot * a.scale;
    size *= std::abs(a.scale);
    if (a.softcap != 0) {
        z = a.softcap * std::tanh(z / a.softcap);
        size += 4 * f64{a.softcap};
    }
    return {z + mask, size + std::abs(mask)};
}

void row(const AttnFlash &a, const Row &r, FlashResult &out) {
    const u32 key_head = r.h / (a.h / a.hk), key_batch = a.k_b == 1 ? 0 : r.b;
    const u64 of_mask = (u64{r.b % a.mask_n3} * a.mask_n2 + r.h % a.mask_n2) * a.sq + r.i;
    const f64 slope = alibi_slope(a.max_bias, a.h, r.h);
    const auto key_row = [&](u32 j) { return (u64{key_batch} * a.sk + j) * a.hk + key_head; };
    const f64 sink = a.sinks.empty() ? -infinity : f64{a.sinks[r.h]};
    std::vector<Logit> logits;
    f64 most = sink;
    bool nan = std::isnan(sink) || sink == infinity;
    for (u32 j = 0; j < a.sk; ++j) {
        const f64 mask = a.mask.empty() ? 0 : slope * a.mask[of_mask * a.sk + j];
        logits.push_back(mask == -infinity ? Logit{mask, 0} : logit(a, r, key_row(j), mask));
        nan |= std::isnan(logits.back().z) || logits.back().z == infinity;
        most = std::fmax(most, logits.back().z);
    }
    std::vector<f64> o(a.d_v), abs(a.d_v);
    f64 sum = sink > -infinity ? std::exp(sink - most) : 0;
    f64 &size = out.size[r.number];
    size = sink > -infinity ? std::abs(sink) + most - sink : 0;
    for (u32 j = 0; j < a.sk; ++j) {
        const f64 p = logits[j].z > -infinity ? std::exp(logits[j].z - most) : 0;
        sum += p;
        if (!(p > 0))
            continue;
        if (logits[j].z > most - negligible)
            size = std::max(size, logits[j].size + most - logits[j].z);
        for (u32 e = 0; e < a.d_v; ++e) {
            const f64 v = a.v[key_row(j) * a.d_v + e];
            o[e] += p * v, abs[e] += p * std::abs(v);
        }
    }
    for (u32 e = 0; e < a.d_v; ++e) {
        const u64 at = r.number * a.d_v + e;
        out.o[at] = nan ? NAN : sum > 0 ? o[e] / sum : 0;
        out.abs[at] = sum > 0 ? abs[e] / sum : 0;
    }
}

} // namespace

FlashResult attn_flash(const AttnFlash &a) {
    const u64 rows = u64{a.b} * a.sq * a.h;
    need_size("q", a.q.size(), rows * a.d);
    need_size("k", a.k.size(), u64{a.k_b} * a.sk * a.hk * a.d);
    need_size("v", a.v.size(), u64{a.k_b} * a.sk * a.hk * a.d_v);
    if (!a.mask.empty())
        need_size("mask", a.mask.size(), u64{a.mask_n3} * a.mask_n2 * a.sq * a.sk);
    if (!a.sinks.empty())
        need_size("sinks", a.sinks.size(), a.h);
    FlashResult out;
    out.o.resize(rows * a.d_v), out.abs.resize(rows * a.d_v), out.size.resize(rows);
    for (u64 i = 0; i < rows; ++i)
        row(a,
            {static_cast<u32>(i / a.h / a.sq), static_cast<u32>(i / a.h % a.sq),
             static_cast<u32>(i % a.h), i},
            out);
    return out;
}

} // namespace nw::ref

// SPDX-License-Identifier: MIT
#include "ref/attn_masked.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nw::ref {

namespace {

constexpr f64 infinity = std::numeric_limits<f64>::infinity();
constexpr f64 negligible = 40; // below the largest logit: p is less than 2^-57

struct Row {
    u32 b, i, h;
    u64 number; // of [b, sq, h]
};

struct Logits {
    std::vector<f64> s, size; // of each key: its logit, and the sum of its terms' sizes
    f64 most = -infinity;
    bool nan = false;
};

f64 half(u16 word) { return to_f32(Dtype::f16, word); }

Logits logits(const AttnMasked &a, const Row &r) {
    Logits out;
    const f32 *const q = &a.q.words[r.b * a.q.b + r.i * a.q.s + r.h * a.q.h];
    const u32 key_head = r.h / (a.h / a.hk);
    for (u32 j = 0; j < a.sk; ++j) {
        const f64 add =
            a.mask.words.empty()
                ? 0
                : half(a.mask.words[r.b * a.mask.b + r.h * a.mask.h + r.i * a.mask.s + j]);
        f64 dot = 0, size = 0;
        for (u32 e = 0; e < a.d && add != -infinity; ++e) {
            const f64 x = half(round_to(Dtype::f16, f64{q[e]})) *
                          half(a.k.words[r.b * a.k.b + j * a.k.s + key_head * a.k.h + e]);
            dot += x, size += std::abs(x);
        }
        const f64 s = add == -infinity ? add : dot * f64{a.scale} + add;
        out.s.push_back(s), out.size.push_back(size * f64{a.scale} + std::abs(add));
        out.nan |= std::isnan(s) || s == infinity;
        out.most = std::max(out.most, s);
    }
    return out;
}

void row(const AttnMasked &a, const Row &r, MaskedResult &out) {
    const Logits l = logits(a, r);
    const u32 key_head = r.h / (a.h / a.hk);
    const f64 sink = a.sinks.empty() ? -infinity : f64{a.sinks[r.h]}, most = std::max(l.most, sink);
    std::vector<f64> o(a.d), abs(a.d), small(a.d);
    f64 sum = sink > -infinity ? std::exp(sink - most) : 0;
    for (u32 j = 0; j < a.sk; ++j) {
        const f64 p = l.s[j] > -infinity ? std::exp(l.s[j] - most) : 0;
        sum += p;
        if (!(p > 0))
            continue;
        if (l.s[j] > l.most - negligible)
            out.logit[r.number] = std::max(out.logit[r.number], l.size[j]);
        // the kernel's powers are of the largest logit; the sink comes last
        const f64 full = std::min(p, a.least_p * std::exp(l.most - most));
        for (u32 e = 0; e < a.d; ++e) {
            const f64 v = half(a.v.words[r.b * a.v.b + j * a.v.s + key_head * a.v.h + e]);
            o[e] += p * v, abs[e] += p * std::abs(v), small[e] += full * std::abs(v);
        }
    }
    for (u32 e = 0; e < a.d; ++e) {
        const u64 at = r.number * a.d + e;
        out.o[at] = l.nan ? NAN : sum > 0 ? o[e] / sum : 0;
        out.abs[at] = sum > 0 ? abs[e] / sum : 0;
        out.small[at] = sum > 0 ? small[e] / sum : 0;
    }
}

} // namespace

MaskedResult attn_masked(const AttnMasked &a) {
    const u64 rows = u64{a.b} * a.sq * a.h;
    MaskedResult out;
    for (std::vector<f64> *x : {&out.o, &out.abs, &out.small})
        x->resize(rows * a.d);
    out.logit.resize(rows);
    for (u64 i = 0; i < rows; ++i)
        row(a,
            {static_cast<u32>(i / a.h / a.sq), static_cast<u32>(i / a.h % a.sq),
             static_cast<u32>(i % a.h), i},
            out);
    return out;
}

} // namespace nw::ref

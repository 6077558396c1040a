// SPDX-License-Identifier: MIT
#include "bench/attention/context.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace nw::bench {

namespace {

constexpr u32 block = 128, topics = 64, run = 4, needle_tokens = 32, sink_tokens = 4;

f32 rest_of(f32 w) { return std::sqrt(1 - w * w); }

} // namespace

Context::Context(Dtype dtype, const ContextShape &p)
    : shape(p), dtype_(dtype), diagonal_((p.sk - p.sq) / block), topics_(1), own_(2), sinks_(3),
      blocks_(4), keys_(5), queries_(6) {}

f32 Context::weight(u32 n) const {
    const f32 unit = static_cast<f32>(blocks_.at(2 * n) >> 40) * 0x1p-24f;
    return (1 + 2 * unit) / 3;
}

f32 Context::topic(u32 kv, u32 n, u32 d) const {
    const u64 c = blocks_.at(2 * (n / run) + 1) % topics;
    return topics_.normal_at((kv * topics + c) * shape.d + d);
}

f32 Context::own(u32 kv, u32 n, u32 d) const {
    return own_.normal_at((u64{n} * shape.hk + kv) * shape.d + d);
}

f32 Context::sink(u32 kv, u32 d) const { return sinks_.normal_at(u64{kv} * shape.d + d); }

u32 Context::needle_at(u32 n) const {
    return static_cast<u32>(blocks_.at(~u64{n}) % (block - needle_tokens));
}

u32 Context::needle(u32 h, u32 m) const {
    return static_cast<u32>(blocks_.fork(h).at(m) % (diagonal_ + m + 1));
}

std::vector<u16> Context::keys() const {
    const auto [h, hk, d, sq, sk] = shape;
    std::vector<u16> out(u64{sk} * hk * d);
    for (u32 n = 0; n < ceil_div(sk, block); ++n) {
        const f32 w = weight(n), rest = rest_of(w);
        for (u32 kv = 0; kv < hk; ++kv)
            for (u32 i = 0; i < d; ++i) {
                const f32 u = w * topic(kv, n, i), v = own(kv, n, i), s = sink(kv, i);
                for (u32 t = n * block; t < std::min(sk, (n + 1) * block); ++t) {
                    const u64 at = (u64{t} * hk + kv) * d + i;
                    const bool needle = t % block - needle_at(n) < needle_tokens;
                    out[at] = round_to(dtype_, t < sink_tokens ? s
                                               : needle        ? v
                                                               : u + rest * keys_.normal_at(at));
                }
            }
    }
    return out;
}

std::vector<u16> Context::queries() const {
    const auto [h, hk, d, sq, sk] = shape;
    std::vector<u16> out(u64{sq} * h * d);
    for (u32 m = 0; m < ceil_div(sq, block); ++m) {
        const f32 w = weight(diagonal_ + m), rest = rest_of(w);
        for (u32 head = 0; head < h; ++head) {
            const u32 kv = head / (h / hk);
            const f32 a = 0.8f + 0.8f * static_cast<f32>(head) / static_cast<f32>(h - 1);
            for (u32 i = 0; i < d; ++i) {
                const f32 u = a * w * topic(kv, diagonal_ + m, i);
                const f32 find =
                    (looks(head) ? 0.75f * own(kv, needle(head, m), i) : 0) + 0.5f * sink(kv, i);
                for (u32 t = m * block; t < std::min(sq, (m + 1) * block); ++t) {
                    const u64 at = (u64{t} * h + head) * d + i;
                    out[at] = round_to(dtype_, u + a * rest * queries_.normal_at(at) + find);
                }
            }
        }
    }
    return out;
}

std::vector<f32> Context::of_head(const std::vector<u16> &keys, u32 kv) const {
    const auto [h, hk, d, sq, sk] = shape;
    std::vector<f32> out(u64{sk} * d);
    for (u64 t = 0; t < sk; ++t)
        for (u64 i = 0; i < d; ++i)
            out[t * d + i] = to_f32(dtype_, keys[(t * hk + kv) * d + i]);
    return out;
}

std::vector<f64> Context::shares(const std::vector<u16> &q, const std::vector<f32> &keys, u32 head,
                                 u32 query) const {
    const auto [h, hk, d, sq, sk] = shape;
    std::vector<f32> row(d);
    for (u32 i = 0; i < d; ++i)
        row[i] = to_f32(dtype_, q[(u64{query} * h + head) * d + i]);
    const u32 seen = sk - sq + query + 1;
    const f32 scale = 1 / std::sqrt(static_cast<f32>(d));
    std::vector<f32> logits(seen);
    for (u64 t = 0; t < seen; ++t) {
        std::array<f32, 16> sum{};
        for (u32 i = 0; i < d; i += 16)
            for (u32 j = 0; j < 16; ++j)
                sum[j] += row[i + j] * keys[t * d + i + j];
        f32 dot = 0;
        for (f32 s : sum)
            dot += s;
        logits[t] = scale * dot;
    }
    const f32 top = *std::ranges::max_element(logits);
    std::vector<f64> out(ceil_div(sk, block));
    f64 all = 0;
    for (u32 t = 0; t < seen; ++t) {
        const f64 p = std::exp(logits[t] - top);
        out[t / block] += p, all += p;
    }
    for (f64 &share : out)
        share /= all;
    return out;
}

} // namespace nw::bench

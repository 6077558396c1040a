// SPDX-License-Identifier: MIT
#include "api/attention_case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "check/attn_bound.h"
#include "ref/attn_pooled.h"
#include "ref/attn_score.h"

namespace api_test {

namespace {

constexpr u8 unwritten = 0xff; // NaN of every type

// Tokens of a block have `shared` of a vector in common, which repeats every third block.
std::vector<u16> random_tokens(Dtype dtype, const AttentionShape &s, u32 count, u32 heads,
                               Rng rng) {
    std::vector<f32> common(u64{3} * s.d);
    Rng of_blocks(77);
    for (f32 &x : common)
        x = s.shared * of_blocks.normal();
    std::vector<u16> out(u64{s.b} * count * heads * s.d);
    for (u64 i = 0; i < out.size(); ++i) {
        const u64 token = i / s.d / heads % count;
        out[i] =
            round_to(dtype, rng.normal() + common[token / ref::attn_block % 3 * s.d + i % s.d]);
    }
    return out;
}

} // namespace

Result::Result(u64 bytes) : bytes_(bytes), memory_(bytes + 2 * guard) { clear(); }
void Result::clear() { HIP_OK(hipMemset(memory_.data, unwritten, memory_.size)); }
std::vector<u8> Result::everything() const {
    std::vector<u8> out(memory_.size);
    HIP_OK(hipMemcpy(out.data(), memory_.data, out.size(), hipMemcpyDeviceToHost));
    return out;
}
bool Result::guards_clean() const {
    const std::vector<u8> all = everything();
    const auto clean = [](u8 byte) { return byte == unwritten; };
    return std::all_of(all.begin(), all.begin() + guard, clean) &&
           std::all_of(all.end() - guard, all.end(), clean);
}
bool Result::untouched() const {
    return std::ranges::all_of(everything(), [](u8 byte) { return byte == unwritten; });
}

Attention::Attention(const AttentionShape &s, u64 seed)
    : shape(s), q_(random_tokens(type(), s, s.sq, s.h, Rng(seed))),
      k_(random_tokens(type(), s, s.sk, s.hk, Rng(seed).fork(1))),
      v_(random_tokens(type(), s, s.sk, s.hk, Rng(seed).fork(2))),
      o_(2 * u64{s.b} * s.sq * s.h * s.d), lse_(4 * u64{s.b} * s.h * s.sq),
      idx_(4 * u64{s.b} * s.h * tiles() * blocks()), cnt_(4 * u64{s.b} * s.h * tiles()),
      mean_(2 * u64{s.b} * blocks() * s.hk * s.d) {
    nw_attn &p = arguments_;
    p.dtype = s.dtype, p.causal = s.causal;
    p.b = s.b, p.sq = s.sq, p.sk = s.sk, p.h = s.h, p.hk = s.hk, p.d = s.d;
    p.scale = 1 / std::sqrt(static_cast<f32>(s.d));
    place();
    p.o = o_.data();
    p.o_h = 2 * s.d, p.o_s = s.h * p.o_h, p.o_b = s.sq * p.o_s;
    p.lse = s.lse ? static_cast<float *>(lse_.data()) : nullptr;
}

void Attention::place() {
    const AttentionShape &s = shape;
    nw_attn &p = arguments_;
    const u64 head = 2 * u64{s.d};
    p.q_h = p.k_h = p.v_h = head;
    if (!s.fused) {
        for (const std::vector<u16> *x : {&q_, &k_, &v_})
            memory_.push_back(std::make_unique<Memory>(bytes_of(*x)));
        p.q = memory_[0]->data, p.k = memory_[1]->data, p.v = memory_[2]->data;
        p.q_s = s.h * head, p.k_s = p.v_s = s.hk * head;
        p.q_b = s.sq * p.q_s, p.k_b = p.v_b = s.sk * p.k_s;
        return;
    }
    REQUIRE_EQ(s.sq, s.sk);
    std::vector<u16> all;
    for (u64 token = 0; token < u64{s.b} * s.sq; ++token)
        for (const auto &[x, heads] : {std::pair{&q_, s.h}, {&k_, s.hk}, {&v_, s.hk}}) {
            const auto from = x->begin() + static_cast<i64>(token * heads * s.d);
            all.insert(all.end(), from, from + heads * s.d);
        }
    memory_.push_back(std::make_unique<Memory>(bytes_of(all)));
    const char *const at = static_cast<const char *>(memory_[0]->data);
    p.q = at, p.k = at + s.h * head, p.v = at + (s.h + s.hk) * head;
    p.q_s = p.k_s = p.v_s = (s.h + 2 * s.hk) * head;
    p.q_b = p.k_b = p.v_b = s.sq * p.q_s;
}

nw_attn Attention::arguments() const { return arguments_; }

nw_attn Attention::listed() const {
    nw_attn out = arguments_;
    out.idx = static_cast<const i32 *>(idx_.data());
    out.cnt = static_cast<const i32 *>(cnt_.data());
    return out;
}

nw_attn_select Attention::selection() const {
    const nw_attn &p = arguments_;
    nw_attn_select out = NW_ATTN_SELECT_INIT;
    out.dtype = p.dtype;
    out.b = p.b, out.sq = p.sq, out.sk = p.sk, out.h = p.h, out.hk = p.hk, out.d = p.d;
    out.scale = p.scale;
    out.q = p.q, out.q_b = p.q_b, out.q_s = p.q_s, out.q_h = p.q_h;
    out.k = p.k, out.k_b = p.k_b, out.k_s = p.k_s, out.k_h = p.k_h;
    out.idx = static_cast<i32 *>(idx_.data());
    out.cnt = static_cast<i32 *>(cnt_.data());
    return out;
}

nw_attn_mean Attention::mean() const {
    const nw_attn &p = arguments_;
    nw_attn_mean out = NW_ATTN_MEAN_INIT;
    out.dtype = p.dtype;
    out.b = p.b, out.tokens = p.sk, out.h = p.hk, out.d = p.d;
    out.x = p.k, out.x_b = p.k_b, out.x_s = p.k_s, out.x_h = p.k_h;
    out.mean = mean_.data();
    return out;
}

void Attention::clear() {
    for (Result *result : {&o_, &lse_, &idx_, &cnt_, &mean_})
        result->clear();
}

bool Attention::untouched() const {
    for (const Result *result : {&o_, &lse_, &idx_, &cnt_, &mean_})
        if (!result->untouched())
            return false;
    return true;
}

ref::AttnTokens Attention::tokens(const std::vector<u16> &x, u32 count, u32 heads) const {
    const u64 token = u64{heads} * shape.d;
    return {x, shape.b, count, heads, shape.d, count * token, token, shape.d};
}

void Attention::use_cache(ref::CacheFormat format, u32 page, std::vector<i32> kv_len) {
    const AttentionShape &s = shape;
    const u32 each = page ? ceil_div(s.sk, page) : 1;
    const u64 row = format == ref::CacheFormat::q8_0  ? s.d / 32 * u64{34}
                    : format == ref::CacheFormat::fp8 ? s.d
                                                      : 2 * u64{s.d};
    cache_ = {format, page, page ? s.b * each + 3 : 1, row, {}, std::move(kv_len), {}, {}};
    for (u32 i = 0; page && i < s.b * each; ++i)
        cache_->table.push_back(static_cast<i32>(cache_->pages - 1 - i));
    cache_->k = cached(k_), cache_->v = cached(v_);
    const auto upload = [&](const void *from, u64 bytes) -> const void * {
        const u8 *const at = static_cast<const u8 *>(from);
        if (!bytes)
            return nullptr;
        return memory_.emplace_back(std::make_unique<Memory>(std::vector<u8>(at, at + bytes)))
            ->data;
    };
    nw_attn &p = arguments_;
    p.kv = format == ref::CacheFormat::q8_0  ? NW_KV_Q8_0
           : format == ref::CacheFormat::fp8 ? NW_KV_FP8
                                             : NW_KV_SAME;
    p.k = upload(cache_->k.data(), cache_->k.size());
    p.v = upload(cache_->v.data(), cache_->v.size());
    p.k_h = p.v_h = row, p.k_s = p.v_s = s.hk * row;
    p.k_b = p.v_b = (page ? page : s.sk) * p.k_s;
    p.page = page, p.pages = page ? cache_->pages : 0, p.table_b = 4 * u64{each};
    p.page_table = static_cast<const i32 *>(upload(cache_->table.data(), 4 * cache_->table.size()));
    p.kv_len = static_cast<const i32 *>(upload(cache_->kv_len.data(), 4 * cache_->kv_len.size()));
}

std::vector<u8> Attention::cached(const std::vector<u16> &x) const {
    const AttentionShape &s = shape;
    const Cache &c = *cache_;
    const u64 each = c.page ? ceil_div(s.sk, c.page) : 0, of_token = s.hk * c.row;
    std::vector<u8> out(c.page ? c.pages * c.page * of_token : s.b * s.sk * of_token, unwritten);
    for (u64 i = 0; i < x.size() / s.d; ++i) {
        const u64 head = i % s.hk, key = i / s.hk % s.sk, b = i / s.hk / s.sk;
        if (!c.kv_len.empty() && static_cast<i64>(key) >= c.kv_len[b])
            continue;
        const u64 token =
            c.page ? static_cast<u64>(c.table[b * each + key / c.page]) * c.page + key % c.page
                   : b * s.sk + key;
        u8 *const to = &out[token * of_token + head * c.row];
        if (c.format == ref::CacheFormat::same)
            std::memcpy(to, &x[i * s.d], c.row);
        for (u32 d = 0; c.format == ref::CacheFormat::fp8 && d < s.d; ++d) {
            // Sign, exponent and the three upper bits of the mantissa: all of E4M3's normal values.
            const u32 bits = std::bit_cast<u32>(to_f32(type(), x[i * s.d + d]));
            const i64 exponent = std::clamp<i64>((bits >> 23 & 255) - i64{120}, 1, 15);
            to[d] = static_cast<u8>(bits >> 24 & 128) | static_cast<u8>(exponent << 3) |
                    static_cast<u8>(bits >> 20 & (exponent == 15 ? 3 : 7));
        }
        for (u32 d = 0; c.format == ref::CacheFormat::q8_0 && d < s.d; ++d) {
            const u16 scale = f32_to_f16(0x1p-5f); // values of up to 4
            std::memcpy(to + d / 32 * 34, &scale, 2);
            const f32 q = std::nearbyint(to_f32(type(), x[i * s.d + d]) * 32);
            to[d / 32 * 34 + 2 + d % 32] =
                static_cast<u8>(static_cast<std::int8_t>(std::clamp(q, -128.0f, 127.0f)));
        }
    }
    return out;
}

ref::AttnCache Attention::rows(const std::vector<u8> &bytes) const {
    const u64 of_token = shape.hk * cache_->row;
    return {bytes, (cache_->page ? cache_->page : shape.sk) * of_token, of_token, cache_->row};
}

ref::AttnResult Attention::exact(const ref::AttnLists *lists) const {
    const AttentionShape &s = shape;
    const auto tensor = [&](const std::vector<u16> &x, u32 count, u32 heads) {
        return ref::AttnTensor{x, u64{count} * heads * s.d, u64{heads} * s.d, s.d};
    };
    const f64 least_p = type() == Dtype::f16 ? 0x1p-15 : 0;
    if (cache_) {
        ref::AttnDecode of{type(), s.b, s.sq, s.sk, s.h, s.hk, s.d, s.causal, arguments_.scale};
        of.q = tensor(q_, s.sq, s.h), of.k = rows(cache_->k), of.v = rows(cache_->v);
        of.format = cache_->format, of.page = cache_->page, of.pages = cache_->pages;
        of.page_table = cache_->table, of.kv_len = cache_->kv_len;
        if (lists)
            of.idx = lists->idx, of.cnt = lists->cnt;
        of.least_p = least_p;
        return ref::attn_decode(of);
    }
    ref::AttnForward of{type(), s.b, s.sq, s.sk, s.h, s.hk, s.d, s.causal, arguments_.scale};
    of.q = tensor(q_, s.sq, s.h), of.k = tensor(k_, s.sk, s.hk), of.v = tensor(v_, s.sk, s.hk);
    if (lists)
        of.idx = lists->idx, of.cnt = lists->cnt;
    of.least_p = least_p;
    return ref::attn_forward(of);
}

std::string Attention::difference(const ref::AttnLists *lists) const {
    const AttentionShape &s = shape;
    const ref::AttnResult exact = this->exact(lists);
    const std::vector<f64> bounds = check::attention_bounds(type(), exact, s.sq, s.h, s.d);
    const f64 rounding = type() == Dtype::f16 ? 0x1p-11 : 0x1p-8;
    const std::vector<u16> got = o_.read<u16>();
    for (u64 i = 0; i < got.size(); ++i) {
        const f64 rounded = rounding * (std::abs(exact.o[i]) + bounds[i]) + 0x1p-25;
        const f64 value = to_f32(type(), got[i]);
        if (!(std::abs(value - exact.o[i]) <= bounds[i] + rounded))
            return fmt::format("o[{},{},{},{}] is {}, {} is exact, the bound {}",
                               i / s.d / s.h / s.sq, i / s.d / s.h % s.sq, i / s.d % s.h, i % s.d,
                               value, exact.o[i], bounds[i]);
    }
    if (s.lse)
        if (std::string off = check::lse_difference(type(), exact, lse_.read<f32>()); !off.empty())
            return off;
    return o_.guards_clean() && lse_.guards_clean() ? "" : "something was written past o or lse";
}

std::vector<f32> Attention::scores(const nw_attn_select &p) const {
    const ref::AttnTokens q = tokens(q_, shape.sq, shape.h), k = tokens(k_, shape.sk, shape.hk);
    const std::vector<u16> mean_k = ref::attn_mean(type(), k);
    std::vector<f64> exact;
    if (p.score == NW_SCORE_POOLED) {
        const std::vector<u16> mean_q = ref::attn_mean(type(), q);
        exact =
            ref::attn_pooled(
                type(), {mean_q, mean_k, shape.b, {shape.sq, shape.sk}, shape.h, shape.hk, shape.d},
                p.scale)
                .score;
    } else {
        exact = ref::attn_score(type(), q, mean_k, shape.hk,
                                {p.score == NW_SCORE_RAW, p.all_rows == 1, p.scale, shape.sk})
                    .score;
    }
    return {exact.begin(), exact.end()};
}

ref::AttnLists Attention::lists(const nw_attn_select &p) const {
    return ref::attn_select(scores(p), shape.b * shape.h, {shape.sq, shape.sk},
                            {p.rule == NW_SELECT_MASS, p.share, p.sink, p.window, p.last_full});
}

std::string Attention::difference_of_lists(const nw_attn_select &p) const {
    const ref::AttnLists want = lists(p);
    if (idx_.read<i32>() != want.idx)
        return "idx differs";
    if (cnt_.read<i32>() != want.cnt)
        return "cnt differs";
    return idx_.guards_clean() && cnt_.guards_clean() ? "" : "something was written past the lists";
}

std::string Attention::difference_of_means() const {
    if (mean_.read<u16>() != ref::attn_mean(type(), tokens(k_, shape.sk, shape.hk)))
        return "means differ";
    return mean_.guards_clean() ? "" : "something was written past the means";
}

} // namespace api_test

// SPDX-License-Identifier: MIT
#include "attn_cache.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

#include "attn_values.h"
#include "check/attn_bound.h"
#include "check/ops.h"
#include "ref/e4m3.h"

namespace nw::check {

using ref::CacheFormat;

namespace {

CacheFormat format_of(const Kernel &kernel) {
    return kernel.p.kv == word("q8_0")  ? CacheFormat::q8_0
           : kernel.p.kv == word("fp8") ? CacheFormat::fp8
                                        : CacheFormat::same;
}

// The nearest E4M3, of finite values the largest at most.
u8 nearest_e4m3(f64 x) { return ref::to_e4m3(std::isfinite(x) ? std::clamp(x, -448., 448.) : x); }

// A block of q8_0 with the scale of its values; if a value is not finite, the whole block is not.
void to_q8_0(const f64 *x, u8 *block) {
    f64 most = 0, odd = 0;
    for (u32 i = 0; i < 32; ++i)
        std::isfinite(x[i]) ? most = std::max(most, std::abs(x[i])) : odd = x[i];
    const u16 d = round_to(Dtype::f16, odd != 0 ? odd : most / 127);
    const f64 scale = to_f32(Dtype::f16, d);
    std::memcpy(block, &d, 2);
    for (u32 i = 0; i < 32; ++i) {
        const f64 q = odd != 0 ? 1 : scale == 0 ? 0 : std::clamp(x[i] / scale, -128.0, 127.0);
        block[2 + i] = static_cast<u8>(static_cast<std::int8_t>(std::nearbyint(q)));
    }
}

u64 cache_row(const CacheCase &p) {
    return p.format == CacheFormat::q8_0  ? p.d / 32 * u64{34}
           : p.format == CacheFormat::fp8 ? p.d
                                          : 2 * u64{p.d};
}

// A row of d words, as the cache has it.
void put(const CacheCase &p, const u16 *words, u8 *to) {
    if (p.format == CacheFormat::same) {
        std::memcpy(to, words, 2 * u64{p.d});
        return;
    }
    std::vector<f64> x(p.d);
    for (u32 i = 0; i < p.d; ++i)
        x[i] = to_f32(p.dtype, words[i]);
    if (p.format == CacheFormat::q8_0)
        for (u32 i = 0; i < p.d; i += 32)
            to_q8_0(&x[i], to + u64{i / 32} * 34);
    else
        std::ranges::transform(x, to, nearest_e4m3);
}

CachePlaced rows_of(const CacheCase &p, const std::vector<u16> &words, u32 rows, u32 heads) {
    CachePlaced out(p, p.b, rows, heads, 2 * u64{p.d});
    for (u64 i = 0; i < words.size() / p.d; ++i) {
        const u64 head = i % heads, row = i / heads % rows, b = i / heads / rows;
        std::memcpy(&out.bytes[b * out.outer + row * out.row + head * out.head], &words[i * p.d],
                    2 * u64{p.d});
    }
    return out;
}

// Keys or values in the cache, of sequences' pages where the table has them; those past a
// sequence's length are NaN.
CachePlaced cache_of(const CacheCase &p, const std::vector<u16> &words,
                     const std::vector<i32> &table) {
    CachePlaced out(p, p.page ? p.pages() : p.b, p.page ? p.page : p.sk, p.hk, cache_row(p));
    for (u32 b = 0; b < p.b; ++b) {
        const i64 keys = p.kv_len.empty() ? p.sk : std::min<i64>(p.kv_len[b], p.sk);
        for (u32 j = 0; j < keys; ++j) {
            const u64 entry = p.page ? static_cast<u64>(table[b * p.pages_each() + j / p.page]) : b;
            const u64 at = std::min<u64>(entry, p.page ? p.pages() - 1 : entry) * out.outer +
                           (p.page ? j % p.page : j) * out.row;
            for (u32 head = 0; head < p.hk; ++head)
                put(p, &words[((u64{b} * p.sk + j) * p.hk + head) * p.d],
                    &out.bytes[at + head * out.head]);
        }
    }
    return out;
}

Op op_of(const Kernel &kernel, const CacheCase &p) {
    Op op{.kind = OpKind::attention};
    op.dtype = word_of(p.dtype), op.kv = kernel.p.kv;
    op.b = p.b, op.sq = p.sq, op.sk = p.sk, op.h = p.h, op.hk = p.hk, op.d = p.d;
    op.causal = p.causal, op.page = p.page, op.pages = p.pages();
    op.scale = std::bit_cast<u32>(p.scale);
    if (p.share)
        op.share = p.share;
    return op;
}

ref::AttnResult exact_of(const CacheCase &p, const CacheOutput &got) {
    ref::AttnDecode a{p.dtype, p.b, p.sq, p.sk, p.h, p.hk, p.d, p.causal, p.scale};
    a.q = {p.q, u64{p.sq} * p.h * p.d, u64{p.h} * p.d, p.d};
    a.k = {got.k.bytes, got.k.outer, got.k.row, got.k.head};
    a.v = {got.v.bytes, got.v.outer, got.v.row, got.v.head};
    a.format = p.format, a.page = p.page, a.pages = p.pages(), a.page_table = got.table,
    a.kv_len = p.kv_len;
    a.idx = p.idx, a.cnt = p.cnt;
    a.least_p = p.least_p;
    return ref::attn_decode(a);
}

} // namespace

CacheCase::CacheCase(const Kernel &kernel, const CacheShape &s, Rng &rng, f32 sigma)
    : CacheShape(s), dtype(dtype_of(kernel)), format(format_of(kernel)), d(kernel.p.d),
      scale(1 / std::sqrt(static_cast<f32>(d))), q(u64{b} * sq * h * d), k(u64{b} * sk * hk * d),
      v(k.size()), least_p(0) {
    for (std::vector<u16> *x : {&q, &k, &v})
        for (u16 &word : *x)
            word = this->word(sigma * rng.normal());
    // Subnormal p of f16 lose 2^-24 at most; attn_forward's largest p of a row may be 2^-9.
    if (dtype == Dtype::f16)
        least_p = kernel.family == "attn_decode" ? 0x1p-24 : 0x1p-15;
}

CachePlaced::CachePlaced(const CacheCase &p, u32 many, u32 rows, u32 heads, u64 row_bytes)
    : outer(), row(), head(row_bytes + (p.padded ? 16 : 0)) {
    row = head * heads + (p.padded ? 48 : 0);
    outer = row * (rows + (p.padded ? 3 : 0));
    bytes.assign(outer * many, 0xff);
}

std::vector<i32> page_table(const CacheCase &p, Rng &rng) {
    std::vector<i32> pages(p.pages());
    std::iota(pages.begin(), pages.end(), 0);
    for (u64 i = pages.size(); i > 1; --i)
        std::swap(pages[i - 1], pages[rng.below(static_cast<u32>(i))]);
    pages.resize(u64{p.b} * p.pages_each());
    return pages;
}

CacheOutput run(Test &t, const Kernel &kernel, const CacheCase &p, std::source_location where,
                std::vector<i32> table) {
    if (p.page && table.empty())
        table = page_table(p, t.rng);
    Op op = op_of(kernel, p);
    std::vector<std::pair<const char *, Region>> inputs;
    const auto input = [&](const char *name, const auto &content) {
        return address(inputs.emplace_back(name, t.region(std::span(content))).second.data());
    };
    const CachePlaced q = rows_of(p, p.q, p.sq, p.h), k = cache_of(p, p.k, table),
                      v = cache_of(p, p.v, table), blank(p, p.b, p.sq, p.h, 2 * u64{p.d});
    op.q = input("q", q.bytes), op.q_b = q.outer, op.q_s = q.row, op.q_h = q.head;
    op.k = input("k", k.bytes), op.k_b = k.outer, op.k_s = k.row, op.k_h = k.head;
    op.v = input("v", v.bytes), op.v_b = v.outer, op.v_s = v.row, op.v_h = v.head;
    if (p.page)
        op.page_table = input("page_table", table), op.table_b = 4 * p.pages_each();
    if (!p.kv_len.empty())
        op.kv_len = input("kv_len", p.kv_len);
    if (!p.idx.empty())
        op.idx = input("idx", p.idx), op.cnt = input("cnt", p.cnt);
    const Region o = t.region<u8>(blank.bytes);
    const Region sums = t.region<f32>(std::vector<f32>(u64{p.b} * p.h * p.sq, NAN));
    op.o = address(o.data()), op.o_b = blank.outer, op.o_s = blank.row, op.o_h = blank.head;
    op.lse = p.lse ? address(sums.data()) : 0;
    const Machine machine = usual_machine(kernel.gfx);
    const bool in_parts = kernel.family == "attn_decode";
    const u64 bytes =
        in_parts ? scratch_bytes(kernel, derived(kernel, op, machine), machine, &Op::parts) : 0;
    const Region parts = t.region<u8>(std::vector<u8>(bytes, 0xff)),
                 arrived = t.region<i32>(std::vector<i32>(u64{p.b} * p.h * p.sq, 0));
    if (in_parts)
        op.parts = address(parts.data()), op.arrived = address(arrived.data());
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] : inputs)
        t.unchanged(name, region, where);
    t.guards_clean("o", o, where);
    t.guards_clean("lse", sums, where);
    t.guards_clean("parts", parts, where);
    t.unchanged("arrived", arrived, where); // 0 again

    const auto at = [&](u64 b, u64 row, u64 head) {
        return b * blank.outer + row * blank.row + head * blank.head;
    };
    return {rows_of_o(t, p, o.read_as<u8>(), blank.bytes, at, where), sums.read_as<f32>(),
            std::move(table), k, v};
}

void check_output(Test &t, const CacheCase &p, const CacheOutput &got, std::source_location where) {
    const ref::AttnResult exact = exact_of(p, got);
    t.within("o", p.dtype, got.o, exact.o, attention_bounds(p.dtype, exact, p.sq, p.h, p.d), where);
    if (const std::string off = p.lse ? lse_difference(p.dtype, exact, got.lse) : ""; !off.empty())
        t.fail(off, where);
}

void say(Test &t, const CacheCase &p, std::string_view what) {
    t.shape(fmt::format("b={} sq={} sk={} h={}/{} {} page={} share={} {}", p.b, p.sq, p.sk, p.h,
                        p.hk, p.causal ? "causal" : "all keys", p.page, p.share, what));
}

void check_case(Test &t, const Kernel &kernel, const CacheCase &p, std::string_view what,
                std::source_location where) {
    say(t, p, what);
    check_output(t, p, run(t, kernel, p, where), where);
}

void check_no_page(Test &t, const Kernel &kernel, CacheCase p) {
    say(t, p, "entries of no page");
    const auto here = std::source_location::current();
    std::vector<i32> table = page_table(p, t.rng);
    const i32 last = static_cast<i32>(p.pages()) - 1;
    table[2] = -1, table[5] = last + 1;
    std::ranges::replace(table, last, 0);
    for (u32 j = 80; j < 96; ++j) // both have the same keys
        for (std::vector<u16> *x : {&p.k, &p.v})
            std::copy_n(p.key(*x, j), p.d, p.key(*x, j - 48));
    for (u32 j = 0; j < 96; ++j)
        if (table[j / 16] == 0) // written twice: let the contents be one page's
            for (std::vector<u16> *x : {&p.k, &p.v})
                std::copy_n(p.key(*x, j % 16), p.d, p.key(*x, j));
    check_output(t, p, run(t, kernel, p, here, table), here);
}

} // namespace nw::check

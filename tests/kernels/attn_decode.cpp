// SPDX-License-Identifier: MIT
// attn_decode: a few queries against a cache of keys and values, in parts, in pages, of sequences
// of their own lengths; on values chosen to hurt.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <numeric>

#include "attn_values.h"
#include "check/attn_bound.h"
#include "check/check.h"
#include "check/ops.h"
#include "decode_case.h"
#include "ref/attn_decode.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

struct Shape {
    u32 sq, sk, h = 2, hk = 1, b = 1;
    bool causal = true;
    u32 page = 0;        // keys, 0: no pages
    u32 share = 0;       // keys of a workgroup, 0: the contract's
    bool padded = false; // NaN between heads, keys and sequences
};

using ref::CacheFormat;

CacheFormat format_of(const Kernel &kernel) {
    return kernel.p.kv == word("q8_0")  ? CacheFormat::q8_0
           : kernel.p.kv == word("fp8") ? CacheFormat::fp8
                                        : CacheFormat::same;
}

// The nearest E4M3 from 0 on; NaN of what has none.
u8 to_e4m3(f64 x) {
    if (!std::isfinite(x))
        return 0x7f;
    u8 low = 0, high = 126; // values rise with their bits
    while (high - low > 1)
        (ref::from_e4m3((low + high) / 2) <= std::abs(x) ? low : high) = (low + high) / 2;
    const f64 middle = (ref::from_e4m3(low) + ref::from_e4m3(high)) / 2;
    const u8 best = std::abs(x) < middle ? low : high;
    return std::signbit(x) ? best | 128 : best;
}

// A block of q8_0, of any scale that the values ask for; of one that isn't finite all of it.
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

struct Case : Shape {
    Dtype dtype;
    CacheFormat format;
    u32 d;
    f32 scale;
    std::vector<u16> q, k, v; // [b, s, h, d]
    std::vector<i32> kv_len;
    bool lse = true;

    Case(const Kernel &kernel, const Shape &s, Rng &rng, f32 sigma = 1)
        : Shape(s), dtype(dtype_of(kernel)), format(format_of(kernel)), d(kernel.p.d),
          scale(1 / std::sqrt(static_cast<f32>(d))), q(u64{b} * sq * h * d),
          k(u64{b} * sk * hk * d), v(k.size()) {
        for (std::vector<u16> *x : {&q, &k, &v})
            for (u16 &word : *x)
                word = this->word(sigma * rng.normal());
    }
    u16 word(f64 x) const { return round_to(dtype, x); }
    u32 pages_each() const { return page ? ceil_div(sk, page) : 1; }
    u32 pages() const { return page ? b * pages_each() + 3 : 1; }
    u16 *key(std::vector<u16> &x, u32 j, u32 head = 0) const { // of the first sequence
        return &x[(u64{j} * hk + head) * d];
    }
};

// A tensor in memory: strides in bytes; NaN where it has no element.
struct Placed {
    u64 outer, row, head;
    std::vector<u8> bytes;

    Placed(const Case &p, u32 many, u32 rows, u32 heads, u64 row_bytes)
        : outer(), row(), head(row_bytes + (p.padded ? 16 : 0)) {
        row = head * heads + (p.padded ? 48 : 0);
        outer = row * (rows + (p.padded ? 3 : 0));
        bytes.assign(outer * many, 0xff);
    }
};

u64 cache_row(const Case &p) {
    return p.format == CacheFormat::q8_0  ? p.d / 32 * u64{34}
           : p.format == CacheFormat::fp8 ? p.d
                                          : 2 * u64{p.d};
}

// A row of d words, as the cache has it.
void put(const Case &p, const u16 *words, u8 *to) {
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
        std::ranges::transform(x, to, to_e4m3);
}

Placed rows_of(const Case &p, const std::vector<u16> &words, u32 rows, u32 heads) {
    Placed out(p, p.b, rows, heads, 2 * u64{p.d});
    for (u64 i = 0; i < words.size() / p.d; ++i) {
        const u64 head = i % heads, row = i / heads % rows, b = i / heads / rows;
        std::memcpy(&out.bytes[b * out.outer + row * out.row + head * out.head], &words[i * p.d],
                    2 * u64{p.d});
    }
    return out;
}

// Keys or values in the cache, of sequences' pages where the table has them; those past a
// sequence's length are NaN.
Placed cache_of(const Case &p, const std::vector<u16> &words, const std::vector<i32> &table) {
    Placed out(p, p.page ? p.pages() : p.b, p.page ? p.page : p.sk, p.hk, cache_row(p));
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

// Pages in any order; some of the cache are no sequence's.
std::vector<i32> page_table(const Case &p, Rng &rng) {
    std::vector<i32> pages(p.pages());
    std::iota(pages.begin(), pages.end(), 0);
    for (u64 i = pages.size(); i > 1; --i)
        std::swap(pages[i - 1], pages[rng.below(static_cast<u32>(i))]);
    pages.resize(u64{p.b} * p.pages_each());
    return pages;
}

struct Output {
    std::vector<u16> o;
    std::vector<f32> lse;
    std::vector<i32> table;
    Placed k, v;
};

Op op_of(const Kernel &kernel, const Case &p) {
    Op op{.kind = OpKind::attention};
    op.dtype = word_of(p.dtype), op.kv = kernel.p.kv;
    op.b = p.b, op.sq = p.sq, op.sk = p.sk, op.h = p.h, op.hk = p.hk, op.d = p.d;
    op.causal = p.causal, op.page = p.page, op.pages = p.pages();
    op.scale = std::bit_cast<u32>(p.scale);
    if (p.share)
        op.share = p.share;
    return op;
}

Output run(Test &t, const Kernel &kernel, const Case &p, std::source_location where,
           std::vector<i32> table = {}) {
    if (p.page && table.empty())
        table = page_table(p, t.rng);
    Op op = op_of(kernel, p);
    std::vector<std::pair<const char *, Region>> inputs;
    const auto input = [&](const char *name, const auto &content) {
        return address(inputs.emplace_back(name, t.region(std::span(content))).second.data());
    };
    const Placed q = rows_of(p, p.q, p.sq, p.h), k = cache_of(p, p.k, table),
                 v = cache_of(p, p.v, table), blank(p, p.b, p.sq, p.h, 2 * u64{p.d});
    op.q = input("q", q.bytes), op.q_b = q.outer, op.q_s = q.row, op.q_h = q.head;
    op.k = input("k", k.bytes), op.k_b = k.outer, op.k_s = k.row, op.k_h = k.head;
    op.v = input("v", v.bytes), op.v_b = v.outer, op.v_s = v.row, op.v_h = v.head;
    if (p.page)
        op.page_table = input("page_table", table), op.table_b = 4 * p.pages_each();
    if (!p.kv_len.empty())
        op.kv_len = input("kv_len", p.kv_len);
    const Region o = t.region<u8>(blank.bytes);
    const Region sums = t.region<f32>(std::vector<f32>(u64{p.b} * p.h * p.sq, NAN));
    op.o = address(o.data()), op.o_b = blank.outer, op.o_s = blank.row, op.o_h = blank.head;
    op.lse = p.lse ? address(sums.data()) : 0;
    const Machine machine = usual_machine(kernel.gfx);
    const Region parts = t.region<u8>(std::vector<u8>(
                     check::scratch_bytes(kernel, check::derived(kernel, op, machine), machine,
                                          &Op::parts),
                     0xff)),
                 arrived = t.region<i32>(std::vector<i32>(u64{p.b} * p.h * p.sq, 0));
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

    Output out{std::vector<u16>(p.q.size()), sums.read_as<f32>(), std::move(table), k, v};
    std::vector<u8> got = o.read_as<u8>();
    for (u64 i = 0; i < out.o.size() / p.d; ++i) {
        const u64 head = i % p.h, row = i / p.h % p.sq, b = i / p.h / p.sq;
        u8 *const at = &got[b * blank.outer + row * blank.row + head * blank.head];
        std::memcpy(&out.o[i * p.d], at, 2 * u64{p.d});
        std::memset(at, 0xff, 2 * u64{p.d});
    }
    if (got != blank.bytes)
        t.fail("o: something was written between rows", where);
    return out;
}

ref::AttnResult exact_of(const Case &p, const Output &got) {
    ref::AttnDecode a{p.dtype, p.b, p.sq, p.sk, p.h, p.hk, p.d, p.causal, p.scale};
    a.q = {p.q, u64{p.sq} * p.h * p.d, u64{p.h} * p.d, p.d};
    a.k = {got.k.bytes, got.k.outer, got.k.row, got.k.head};
    a.v = {got.v.bytes, got.v.outer, got.v.row, got.v.head};
    a.format = p.format, a.page = p.page, a.pages = p.pages(), a.page_table = got.table,
    a.kv_len = p.kv_len;
    a.least_p = p.dtype == Dtype::f16 ? 0x1p-24 : 0; // subnormal p lose so much at most
    return ref::attn_decode(a);
}

void check_output(Test &t, const Case &p, const Output &got, std::source_location where) {
    const ref::AttnResult exact = exact_of(p, got);
    t.within("o", p.dtype, got.o, exact.o, check::attention_bounds(p.dtype, exact, p.sq, p.h, p.d),
             where);
    if (const std::string off = p.lse ? check::lse_difference(p.dtype, exact, got.lse) : "";
        !off.empty())
        t.fail(off, where);
}

void say(Test &t, const Case &p, std::string_view what) {
    t.shape(fmt::format("b={} sq={} sk={} h={}/{} {} page={} share={} {}", p.b, p.sq, p.sk, p.h,
                        p.hk, p.causal ? "causal" : "all keys", p.page, p.share, what));
}

void check_case(Test &t, const Kernel &kernel, const Case &p, std::string_view what = "",
                std::source_location where = std::source_location::current()) {
    say(t, p, what);
    check_output(t, p, run(t, kernel, p, where), where);
}

Case random(Test &t, const Kernel &kernel, const Shape &s, f32 sigma = 1) {
    return Case(kernel, s, t.rng, sigma);
}

u32 least(const Kernel &kernel) { return kernel.p.bk * kernel.block / 32; } // keys of a workgroup

// ---- sizes

void sizes(Test &t, const Kernel &kernel) {
    for (u32 sk : {1u, 15u, 16u, 17u, 63u, 64u, 65u, 129u, 300u})
        check_case(t, kernel, random(t, kernel, {1, sk, 2, 1, 1, true, 0, least(kernel)}));
    for (u32 sq : {2u, 3u, 8u})
        for (bool causal : {true, false})
            check_case(t, kernel, random(t, kernel, {sq, 200, 3, 1, 1, causal}));
    for (const auto &[h, hk] : {std::pair{1u, 1u}, {8u, 2u}, {6u, 6u}, {17u, 1u}, {10u, 2u}})
        check_case(t, kernel, random(t, kernel, {2, 150, h, hk, 2}), "heads");
    check_case(t, kernel, random(t, kernel, {8, 100, 8, 1}), "four tiles");
    check_case(t, kernel, random(t, kernel, {4, 300, 4, 2, 2, true, 0, 0, true}), "padded");
    check_case(t, kernel, random(t, kernel, {5, 3, 2, 1, 1, true}), "queries before all keys");
    check_case(t, kernel,
               random(t, kernel, {1, 9 * least(kernel), 4, 1, 1, true, 0, least(kernel)}),
               "nine parts");
}

void lengths(Test &t, const Kernel &kernel) {
    Case p = random(t, kernel, {2, 400, 4, 2, 6, true, 0, 2 * least(kernel), true});
    p.kv_len = {400, 0, 1, 129, -7, 1000};
    check_case(t, kernel, p, "lengths");
    p.causal = false;
    check_case(t, kernel, p, "lengths");
}

void pages(Test &t, const Kernel &kernel) {
    for (u32 page : {16u, 32u, 64u, 128u, 256u})
        check_case(t, kernel, random(t, kernel, {1, 300, 4, 2, 2, true, page, least(kernel)}));
    Case p = random(t, kernel, {3, 290, 4, 2, 3, true, 32, 0, true});
    p.kv_len = {290, 17, 161};
    check_case(t, kernel, p, "pages and lengths");
    // Entries of no page read the last one.
    p = random(t, kernel, {1, 100, 2, 1, 1, true, 16});
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

// ---- values

void maxima(Test &t, const Kernel &kernel) {
    const u32 share = least(kernel), sk = 3 * share + 20;
    for (u32 at : {0u, 20u, share + 3, sk - 1})
        for (f64 height : {5.0, -40.0}) {
            Case p = random(t, kernel, {2, sk, 4, 1, 1, true, 0, share}, 0.3f);
            for (u32 i = 0; i < p.sq * p.h; ++i)
                p.q[u64{i} * p.d] = p.word(0.25 + i * 0.5);
            p.key(p.k, at)[0] = p.word(height / p.scale);
            check_case(t, kernel, p, height > 0 ? "one large key" : "one very small key");
        }
    for (int direction : {1, -1}) {
        Case p = random(t, kernel, {2, sk, 4, 1, 1, true, 0, share}, 0.3f);
        for (u32 i = 0; i < p.sq * p.h; ++i)
            p.q[u64{i} * p.d + 3] = p.word(1 + i % 7 * 0.3);
        for (u32 j = 0; j < sk; ++j)
            p.key(p.k, j)[3] = p.word(direction * (static_cast<f64>(j / 16) - 6) * 3 / p.scale);
        check_case(t, kernel, p, direction > 0 ? "maxima that rise" : "maxima that fall");
    }
    check_case(t, kernel, random(t, kernel, {3, 260, 4, 1}, 3), "steep");
}

void plain_values(Test &t, const Kernel &kernel) {
    check::plain_values(
        [&](u32 queries, u32 keys) {
            return random(t, kernel, {queries, keys});
        },
        [](Case &p, u32 j) { return p.key(p.v, j); },
        [&](const Case &p, const char *what) { check_case(t, kernel, p, what); });
}

void not_finite(Test &t, const Kernel &kernel) {
    for (f64 value : {f64{NAN}, f64{INFINITY}, -f64{INFINITY}}) {
        Case p = random(t, kernel, {2, 200, 2, 1, 1, true, 0, least(kernel)});
        p.q[5] = p.word(value);
        check_case(t, kernel, p, fmt::format("{} in q", value));
        p = random(t, kernel, {2, 200, 2, 1, 1, true, 0, least(kernel)});
        p.key(p.k, 140)[5] = p.word(value);
        check_case(t, kernel, p, fmt::format("{} in k", value));
    }
}

void same_every_time(Test &t, const Kernel &kernel) {
    Case p = random(t, kernel, {2, 500, 4, 2, 1, true, 0, least(kernel)});
    say(t, p, "twice");
    const auto here = std::source_location::current();
    const Output first = run(t, kernel, p, here), second = run(t, kernel, p, here);
    t.same("o", p.dtype, second.o, first.o);
    if (std::memcmp(first.lse.data(), second.lse.data(), 4 * first.lse.size()) != 0)
        t.fail("lse differs", here);
    p.page = 16; // where keys are makes no difference
    t.same("o", p.dtype, run(t, kernel, p, here).o, first.o);
}

} // namespace

CHECK_FAMILY(attn_decode) {
    if (t.entry)
        return check_case(t, kernel, random(t, kernel, {1, 2, 2, 2}), "entry");
    const u32 share = least(kernel);
    Case p = random(t, kernel, {3, 3 * share + 5, 4, 2, 2, true, 16, share, true});
    p.kv_len = {static_cast<i32>(3 * share + 5), static_cast<i32>(share)};
    check_case(t, kernel, p, "every path");
    p = random(t, kernel, {1, 2 * share + 40, 2, 1, 1, true, 0, share});
    p.lse = false;
    check_case(t, kernel, p, "every path");
    if (t.checkers)
        return;
    maxima(t, kernel);
    if (!thorough(t, kernel))
        return;
    sizes(t, kernel);
    lengths(t, kernel);
    pages(t, kernel);
    plain_values(t, kernel);
    not_finite(t, kernel);
    same_every_time(t, kernel);
}

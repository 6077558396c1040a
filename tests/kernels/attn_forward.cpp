// SPDX-License-Identifier: MIT
// attn_forward: dense and listed blocks, causal from any query on, on values chosen to hurt.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "attn_forward_cache.h"
#include "attn_packed.h"
#include "attn_values.h"
#include "check/attn_bound.h"
#include "check/check.h"
#include "check/ops.h"
#include "decode_case.h"
#include "ref/attn_forward.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

constexpr u32 block = 128;

enum class Layout : u8 {
    plain,  // [b, s, h, d]
    padded, // NaN between heads, rows and batches
    qkv,    // q, k and v in one tensor [b, s, h + 2 hk, d]
};

struct Shape {
    u32 sq, sk, h = 2, hk = 1, b = 1;
    bool causal = true;
    Layout layout = Layout::plain;
};

struct Case : Shape {
    Dtype dtype;
    u32 d;
    f32 scale;
    std::vector<u16> q, k, v; // [b, s, h, d]
    std::vector<i32> idx, cnt;

    Case(const Kernel &kernel, const Shape &s, Rng &rng, f32 sigma = 1)
        : Shape(s), dtype(dtype_of(kernel)), d(kernel.p.d),
          scale(1 / std::sqrt(static_cast<f32>(d))), q(u64{b} * sq * h * d),
          k(u64{b} * sk * hk * d), v(k.size()) {
        for (std::vector<u16> *x : {&q, &k, &v})
            for (u16 &word : *x)
                word = this->word(sigma * rng.normal());
    }
    u16 word(f64 x) const { return round_to(dtype, x); }
    u32 tiles() const { return ceil_div(sq, block); }
    u32 blocks() const { return ceil_div(sk, block); }
    u16 *row(std::vector<u16> &x, u32 s, u32 head = 0) const { // of the first batch
        return &x[(u64{s} * (&x == &q ? h : hk) + head) * d];
    }
    ref::AttnForward reference() const {
        const auto plain = [&](const std::vector<u16> &x, u32 rows, u32 heads) {
            return ref::AttnTensor{x, u64{rows} * heads * d, u64{heads} * d, d};
        };
        ref::AttnForward out{dtype, b, sq, sk, h, hk, d, causal, scale};
        out.q = plain(q, sq, h), out.k = plain(k, sk, hk), out.v = plain(v, sk, hk);
        out.idx = idx, out.cnt = cnt;
        // The largest p of a row is 2^-9 or more (its stage's sum over 32 keys 1/16), so p of f16
        // of less than 2^-14 lose up to 2^-24, or 2^-15 of the largest.
        out.least_p = dtype == Dtype::f16 ? 0x1p-15 : 0;
        return out;
    }
};

// A tensor in memory: strides in bytes; NaN where it has no element.
struct Placed {
    u64 b, s, h;
    std::vector<u8> bytes;
};
Placed place(const Case &p, u32 rows, u32 heads, Layout layout, const std::vector<u16> *words) {
    const bool padded = layout == Layout::padded;
    Placed out;
    out.h = 2 * u64{p.d} + (padded ? 16 : 0);
    out.s = out.h * heads + (padded ? 48 : 0);
    out.b = out.s * (rows + (padded ? 3 : 0));
    out.bytes.assign(out.b * p.b, 0xff);
    if (words)
        for (u64 i = 0; i < words->size() / p.d; ++i) {
            const u64 head = i % heads, row = i / heads % rows, b = i / heads / rows;
            std::memcpy(&out.bytes[b * out.b + row * out.s + head * out.h], &(*words)[i * p.d],
                        2 * u64{p.d});
        }
    return out;
}

Placed together(const Case &p) {
    const u32 heads = p.h + 2 * p.hk;
    std::vector<u16> all(u64{p.b} * p.sk * heads * p.d);
    for (u64 row = 0; row < u64{p.b} * p.sk; ++row) {
        u16 *to = &all[row * heads * p.d];
        for (const auto &[x, n] :
             {std::pair{&p.q, p.h * p.d}, {&p.k, p.hk * p.d}, {&p.v, p.hk * p.d}}) {
            std::copy_n(&(*x)[row * n], n, to);
            to += n;
        }
    }
    return place(p, p.sk, heads, Layout::plain, &all);
}

struct Output {
    std::vector<u16> o;
    std::vector<f32> lse;
};

Output run(Test &t, const Kernel &kernel, const Case &p, bool lse, std::source_location where) {
    Op op{.kind = OpKind::attention};
    op.dtype = word_of(p.dtype), op.kv = word("same");
    op.b = p.b, op.sq = p.sq, op.sk = p.sk, op.h = p.h, op.hk = p.hk, op.d = p.d;
    op.causal = p.causal, op.scale = std::bit_cast<u32>(p.scale);
    std::vector<std::pair<const char *, Region>> inputs;
    const auto input = [&](const char *name, const auto &content) {
        return address(inputs.emplace_back(name, t.region(std::span(content))).second.data());
    };
    if (p.layout == Layout::qkv) {
        const Placed all = together(p);
        op.q = input("qkv", all.bytes);
        op.k = op.q + u64{p.h} * all.h, op.v = op.k + u64{p.hk} * all.h;
        op.q_b = op.k_b = op.v_b = all.b;
        op.q_s = op.k_s = op.v_s = all.s;
        op.q_h = op.k_h = op.v_h = all.h;
    } else {
        const Placed q = place(p, p.sq, p.h, p.layout, &p.q),
                     k = place(p, p.sk, p.hk, p.layout, &p.k),
                     v = place(p, p.sk, p.hk, p.layout, &p.v);
        op.q = input("q", q.bytes), op.q_b = q.b, op.q_s = q.s, op.q_h = q.h;
        op.k = input("k", k.bytes), op.k_b = k.b, op.k_s = k.s, op.k_h = k.h;
        op.v = input("v", v.bytes), op.v_b = v.b, op.v_s = v.s, op.v_h = v.h;
    }
    if (!p.idx.empty())
        op.idx = input("idx", p.idx), op.cnt = input("cnt", p.cnt);
    const Placed blank =
        place(p, p.sq, p.h, p.layout == Layout::padded ? Layout::padded : Layout::plain, nullptr);
    const Region o = t.region<u8>(blank.bytes);
    const Region sums = t.region<f32>(std::vector<f32>(u64{p.b} * p.h * p.sq, NAN));
    op.o = address(o.data()), op.o_b = blank.b, op.o_s = blank.s, op.o_h = blank.h;
    op.lse = lse ? address(sums.data()) : 0;
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] : inputs)
        t.unchanged(name, region, where);
    t.guards_clean("o", o, where);
    t.guards_clean("lse", sums, where);

    const auto at = [&](u64 b, u64 row, u64 head) {
        return b * blank.b + row * blank.s + head * blank.h;
    };
    return {check::rows_of_o(t, p, o.read_as<u8>(), blank.bytes, at, where), sums.read_as<f32>()};
}

void check_output(Test &t, const Case &p, const Output &got, bool lse, std::source_location where) {
    const ref::AttnResult exact = ref::attn_forward(p.reference());
    t.within("o", p.dtype, got.o, exact.o, check::attention_bounds(p.dtype, exact, p.sq, p.h, p.d),
             where);
    if (const std::string off = lse ? check::lse_difference(p.dtype, exact, got.lse) : "";
        !off.empty())
        t.fail(off, where);
}

void say(Test &t, const Case &p, const std::string &what) {
    t.shape(fmt::format("b={} sq={} sk={} h={}/{} {}{} {}", p.b, p.sq, p.sk, p.h, p.hk,
                        p.causal ? "causal" : "all keys", p.idx.empty() ? "" : " lists", what));
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const std::string &what,
                bool lse = true, std::source_location where = std::source_location::current()) {
    say(t, p, what);
    check_output(t, p, run(t, kernel, p, lse, where), lse, where);
}

Case random(Test &t, const Kernel &kernel, const Shape &s, f32 sigma = 1) {
    return Case(kernel, s, t.rng, sigma);
}

// Lists of blocks: each with probability 1/2, ascending, then -1.
void add_lists(Case &p, Rng &rng) {
    const u64 lists = u64{p.b} * p.h * p.tiles();
    p.idx.assign(lists * p.blocks(), -1);
    p.cnt.assign(lists, 0);
    for (u64 list = 0; list < lists; ++list)
        for (u32 n = 0; n < p.blocks(); ++n)
            if (rng.below(2))
                p.idx[list * p.blocks() + static_cast<u64>(p.cnt[list]++)] = static_cast<i32>(n);
}

// ---- sizes

void sizes(Test &t, const Kernel &kernel) {
    for (u32 s : {1u, 15u, 63u, 65u, 127u, 128u, 129u, 257u, 300u})
        check_case(t, kernel, random(t, kernel, {s, s}), "", s % 2 == 0);
    for (const auto &[sq, sk] : {std::pair{1u, 200u}, {70u, 198u}, {129u, 256u}, {130u, 259u}})
        for (bool causal : {true, false})
            check_case(t, kernel, random(t, kernel, {sq, sk, 2, 2, 1, causal}), "");
    check_case(t, kernel, random(t, kernel, {140, 60, 1, 1, 2, false}), "more queries than keys");
    for (const auto &[h, hk] : {std::pair{4u, 1u}, {4u, 4u}, {8u, 1u}, {6u, 3u}})
        check_case(t, kernel, random(t, kernel, {70, 70, h, hk, 2}), "heads");
}

void layouts(Test &t, const Kernel &kernel) {
    check_case(t, kernel, random(t, kernel, {133, 133, 4, 2, 2, true, Layout::padded}), "padded");
    check_case(t, kernel, random(t, kernel, {131, 131, 4, 2, 2, true, Layout::qkv}), "qkv");
}

// ---- lists

void lists(Test &t, const Kernel &kernel) {
    for (const auto &[sq, sk] : {std::pair{260u, 260u}, {200u, 500u}, {40u, 645u}}) {
        Case p = random(t, kernel, {sq, sk, 4, 2, 2});
        add_lists(p, t.rng);
        check_case(t, kernel, p, "");
    }
    Case p = random(t, kernel, {400, 500, 2});
    add_lists(p, t.rng);
    p.cnt[0] = 0, p.cnt[1] = -3, p.cnt[2] = 100;
    check_case(t, kernel, p, "no blocks, or more than there are");
    const auto [least, most] =
        std::pair{std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()};
    const std::array entries = {-1, 0, 4, least, 1, most, 3, 1};
    for (u64 i = 0; i < p.idx.size(); ++i)
        p.idx[i] = entries[i % entries.size()];
    std::ranges::fill(p.cnt, 4);
    check_case(t, kernel, p, "entries of no block, and twice the same");
    Case many = random(t, kernel, {30, 40 * block + 9, 1, 1, 1, false}, 0.5f);
    many.idx.resize(many.blocks());
    for (u32 n = 0; n < many.blocks(); ++n)
        many.idx[n] = n % 3 == 1 || n == 40 ? static_cast<i32>(n) : -1;
    many.cnt = {static_cast<i32>(many.blocks())};
    check_case(t, kernel, many, "more entries than lanes");
}

// ---- values

// Keys that rows see as larger by 0.5 to 30 (in log2) than all before: each row's sum is rescaled
// by another factor.
void maxima(Test &t, const Kernel &kernel) {
    const auto with_needle = [&](u32 at, f64 height) {
        Case p = random(t, kernel, {300, 300}, 0.3f);
        for (u32 i = 0; i < p.sq; ++i)
            for (u32 head = 0; head < p.h; ++head)
                p.row(p.q, i, head)[0] = p.word(0.25 + i % 16 * 0.25);
        p.row(p.k, at)[0] = p.word(height / p.scale);
        return p;
    };
    for (u32 at : {0u, 70u, 200u, 256u, 299u})
        check_case(t, kernel, with_needle(at, 5), "one large key");
    check_case(t, kernel, with_needle(130, -40), "one very small key");
    for (int direction : {1, -1}) {
        Case p = random(t, kernel, {300, 300}, 0.3f);
        for (u32 i = 0; i < p.sq; ++i)
            for (u32 head = 0; head < p.h; ++head)
                p.row(p.q, i, head)[3] = p.word(1 + i % 7 * 0.3);
        for (u32 j = 0; j < p.sk; ++j)
            p.row(p.k, j)[3] = p.word(direction * (static_cast<f64>(j / 32) - 4.5) * 3 / p.scale);
        check_case(t, kernel, p, direction > 0 ? "maxima that rise" : "maxima that fall");
    }
    check_case(t, kernel, random(t, kernel, {260, 260}, 3), "steep");
    Case p = random(t, kernel, {260, 260});
    for (u32 i = 0; i < p.sq * p.h; ++i)
        p.q[u64{i} * p.d] = p.word(64);
    for (u32 j = 0; j < p.sk; ++j)
        p.row(p.k, j)[0] = p.word(-40);
    check_case(t, kernel, p, "all logits far below 0");
}

void plain_values(Test &t, const Kernel &kernel) {
    const auto make = [&](u32, u32 keys) { return random(t, kernel, {keys, keys}); };
    const auto value = [](Case &p, u32 j) { return p.row(p.v, j); };
    const auto check = [&](const Case &p, const char *what) { check_case(t, kernel, p, what); };
    check::plain_values(make, value, check);
    check::largest_values(make, value, check, 126, 12);
}

// The public test of lucebox: |o - exact| < 5e-2.
void public_test(Test &t, const Kernel &kernel) {
    Case p = random(t, kernel, {256, 256, 4, 2});
    for (std::vector<u16> *x : {&p.q, &p.k, &p.v})
        for (u16 &word : *x)
            word = p.word(0.2 * t.rng.unit() - 0.1);
    check_case(t, kernel, p, "U(-0.1, 0.1)");
    const std::vector<f64> exact = ref::attn_forward(p.reference()).o;
    t.within("o", p.dtype, run(t, kernel, p, false, std::source_location::current()).o, exact,
             std::vector<f64>(exact.size(), 1e-3));
}

// A row of q or k that isn't finite makes the rows that see it NaN, or does not count.
void not_finite(Test &t, const Kernel &kernel) {
    for (f64 value : {f64{NAN}, f64{INFINITY}, -f64{INFINITY}}) {
        Case p = random(t, kernel, {200, 200});
        p.row(p.q, 77)[5] = p.word(value);
        check_case(t, kernel, p, fmt::format("{} in q", value));
        p = random(t, kernel, {200, 200});
        p.row(p.k, 140)[5] = p.word(value);
        check_case(t, kernel, p, fmt::format("{} in k", value));
        p = random(t, kernel, {200, 200});
        p.row(p.v, 70)[5] = p.word(value);
        say(t, p, fmt::format("{} in v", value));
        const auto here = std::source_location::current();
        const Output got = run(t, kernel, p, false, here);
        const u32 bk = kernel.p.bk; // a row's p of later keys among these are 0, and 0 * inf is NaN
        for (u32 i = 0; i < p.sq; ++i)
            for (u32 head = 0; head < p.h; ++head)
                for (u32 e = 0; e < p.d; ++e) {
                    const f32 x = to_f32(p.dtype, got.o[(u64{i} * p.h + head) * p.d + e]);
                    const bool may = e == 5 && i >= 70 / bk * bk, must = e == 5 && i >= 70;
                    if (std::isfinite(x) ? must : !may)
                        return t.fail(fmt::format("o[{},{},{}] is {}", i, head, e, x), here);
                }
    }
}

void same_every_time(Test &t, const Kernel &kernel) {
    Case p = random(t, kernel, {300, 300, 4, 2});
    say(t, p, "twice");
    const auto here = std::source_location::current();
    const Output first = run(t, kernel, p, true, here), second = run(t, kernel, p, true, here);
    check::check_same(t, p.dtype, first, second, here);
    // A list of all blocks is no list.
    for (u64 i = 0; i < u64{p.h} * p.tiles() * p.blocks(); ++i)
        p.idx.push_back(static_cast<i32>(i % p.blocks()));
    p.cnt.assign(u64{p.h} * p.tiles(), static_cast<i32>(p.blocks()));
    t.same("o", p.dtype, run(t, kernel, p, true, here).o, first.o);
}

} // namespace

CHECK_FAMILY(attn_forward) {
    const bool cache = kernel.p.form == word("cache");
    if (cache)
        check::attn_forward_cache(t, kernel);
    if (kernel.p.kv != word("same") || (cache && t.entry))
        return;
    if (t.entry)
        return check_case(t, kernel, random(t, kernel, {3, 3}), "entry");
    Case p = random(t, kernel, {150, 310, 2, 1, 1, true, Layout::padded});
    add_lists(p, t.rng);
    check_case(t, kernel, p, "every path");
    check_case(t, kernel, random(t, kernel, {131, 131, 2, 1, 1, true, Layout::qkv}), "every path");
    check::attn_packed(t, kernel);
    if (t.checkers)
        return;
    maxima(t, kernel);
    if (!thorough(t, kernel))
        return;
    sizes(t, kernel);
    layouts(t, kernel);
    lists(t, kernel);
    plain_values(t, kernel);
    public_test(t, kernel);
    not_finite(t, kernel);
    same_every_time(t, kernel);
}

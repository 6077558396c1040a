// SPDX-License-Identifier: MIT
// Many queries to a cache: lengths, pages, lists of its blocks, formats of keys and values.
#include "attn_forward_cache.h"

#include <algorithm>
#include <fmt/format.h>

#include "attn_cache.h"
#include "attn_values.h"

namespace nw::check {

namespace {

using Case = CacheCase;

Case random(Test &t, const Kernel &kernel, const CacheShape &s, f32 sigma = 1) {
    return Case(kernel, s, t.rng, sigma);
}

// Lists of blocks: each with probability 1/2, then one of no block; some longer than they may be.
void add_lists(Case &p, Rng &rng) {
    const u64 blocks = ceil_div(p.sk, 128u), lists = u64{p.b} * p.h * ceil_div(p.sq, 128u);
    p.idx.assign(lists * blocks, -1);
    p.cnt.assign(lists, 0);
    for (u64 list = 0; list < lists; ++list) {
        for (u64 n = 0; n < blocks; ++n)
            if (rng.below(2))
                p.idx[list * blocks + static_cast<u64>(p.cnt[list]++)] = static_cast<i32>(n);
        if (list % 3 == 0)
            p.cnt[list] = 1000;
    }
}

void sizes(Test &t, const Kernel &kernel) {
    for (u32 s : {1u, 15u, 63u, 65u, 128u, 129u, 300u})
        check_case(t, kernel, random(t, kernel, {s, s, 2, 1, 1, true, s % 2 ? 16u : 0u}));
    for (bool causal : {true, false}) {
        check_case(t, kernel, random(t, kernel, {70, 198, 2, 2, 1, causal, 32}));
        check_case(t, kernel, random(t, kernel, {130, 259, 6, 2, 2, causal, 0, 0, true}));
    }
    check_case(t, kernel, random(t, kernel, {140, 60, 1, 1, 2, false, 16}), "more queries");
}

void lengths(Test &t, const Kernel &kernel) {
    for (u32 page : {0u, 16u})
        for (bool causal : {true, false}) {
            Case p = random(t, kernel, {140, 400, 2, 1, 8, causal, page, 0, true});
            p.kv_len = {400, 0, 1, 129, -7, 1000, 17, 256};
            check_case(t, kernel, p, "lengths");
        }
    Case p = random(t, kernel, {300, 300, 2, 1, 3});
    p.kv_len = {40, 172, 299}; // whole tiles of queries are before the first key
    check_case(t, kernel, p, "queries before all keys");
}

void pages(Test &t, const Kernel &kernel) {
    for (u32 page : {16u, 32u, 64u, 128u, 256u})
        check_case(t, kernel, random(t, kernel, {130, 300, 4, 2, 2, true, page}));
    Case p = random(t, kernel, {100, 290, 4, 2, 3, true, 32, 0, true});
    p.kv_len = {290, 117, 161};
    check_case(t, kernel, p, "pages and lengths");
    check_no_page(t, kernel, random(t, kernel, {20, 100, 2, 1, 1, true, 16}));
}

void lists(Test &t, const Kernel &kernel) {
    for (u32 page : {0u, 16u, 256u}) {
        Case p = random(t, kernel, {200, 700, 4, 2, 3, true, page});
        p.kv_len = {700, 391, 5};
        add_lists(p, t.rng);
        check_case(t, kernel, p, "lists");
    }
    Case many = random(t, kernel, {20, 40 * 128 + 9, 1, 1, 1, false, 64}, 0.5f);
    add_lists(many, t.rng);
    check_case(t, kernel, many, "more entries than lanes");
}

void maxima(Test &t, const Kernel &kernel) {
    for (u32 at : {0u, 70u, 256u, 299u})
        for (f64 height : {5.0, -40.0}) {
            Case p = random(t, kernel, {130, 300, 2, 1, 1, true, 16}, 0.3f);
            for (u32 i = 0; i < p.sq * p.h; ++i)
                p.q[u64{i} * p.d] = p.word(0.25 + i % 16 * 0.25);
            p.key(p.k, at)[0] = p.word(height / p.scale);
            check_case(t, kernel, p, height > 0 ? "one large key" : "one very small key");
        }
    check_case(t, kernel, random(t, kernel, {130, 260}, 3), "steep");
}

// A key that isn't finite makes the rows that see it NaN, or does not count.
void not_finite(Test &t, const Kernel &kernel) {
    for (f64 value : {f64{NAN}, f64{INFINITY}, -f64{INFINITY}}) {
        Case p = random(t, kernel, {60, 200, 2, 1, 1, true, 16});
        p.key(p.k, 160)[5] = p.word(value);
        check_case(t, kernel, p, fmt::format("{} in k", value));
    }
}

void same_every_time(Test &t, const Kernel &kernel) {
    Case p = random(t, kernel, {150, 500, 4, 2});
    say(t, p, "twice");
    const auto here = std::source_location::current();
    const CacheOutput first = run(t, kernel, p, here), second = run(t, kernel, p, here);
    check_same(t, p.dtype, first, second, here);
    p.page = 16; // where keys are makes no difference
    t.same("o", p.dtype, run(t, kernel, p, here).o, first.o);
    p.kv_len = {500};
    t.same("o", p.dtype, run(t, kernel, p, here).o, first.o);
}

} // namespace

void attn_forward_cache(Test &t, const Kernel &kernel) {
    if (t.entry)
        return check_case(t, kernel, random(t, kernel, {3, 3}), "entry");
    Case p = random(t, kernel, {150, 310, 2, 1, 2, true, 16, 0, true});
    p.kv_len = {310, 187};
    add_lists(p, t.rng);
    check_case(t, kernel, p, "every path");
    p = random(t, kernel, {20, 150, 2, 1, 2});
    p.kv_len = {9, 149};
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
    lists(t, kernel);
    const auto make = [&](u32, u32 keys) { return random(t, kernel, {keys, keys}); };
    const auto value = [](Case &c, u32 j) { return c.key(c.v, j); };
    const auto check = [&](const Case &c, const char *what) { check_case(t, kernel, c, what); };
    plain_values(make, value, check);
    largest_values(make, value, check, 126, 12);
    not_finite(t, kernel);
    same_every_time(t, kernel);
}

} // namespace nw::check

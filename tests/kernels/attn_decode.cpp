// SPDX-License-Identifier: MIT
// attn_decode: a few queries against a cache of keys and values, in parts, in pages, of sequences
// of their own lengths; on values chosen to hurt.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "attn_cache.h"
#include "attn_values.h"

using namespace nw;
using check::Test;

namespace {

using Case = check::CacheCase;
using Shape = check::CacheShape;
using Output = check::CacheOutput;
using check::check_case, check::run, check::say;

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
    check::check_no_page(t, kernel, random(t, kernel, {1, 100, 2, 1, 1, true, 16}));
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
    const auto make = [&](u32 queries, u32 keys) { return random(t, kernel, {queries, keys}); };
    const auto value = [](Case &p, u32 j) { return p.key(p.v, j); };
    const auto check = [&](const Case &p, const char *what) { check_case(t, kernel, p, what); };
    check::plain_values(make, value, check);
    check::largest_values(make, value, check, 127, 0);
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
    check::check_same(t, p.dtype, first, second, here);
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

// SPDX-License-Identifier: MIT
// Shared by tests of attention, for few queries or many: values chosen to hurt, and checks of
// what a launch wrote.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "check/check.h"

namespace nw::check {

// Halves near the largest, also behind q8_0: sums in f32 have room for them.
void large_values(const auto &make, const auto &value, const auto &check) {
    constexpr f64 large = 6e4, power = 0x1p15; // no sum of products of powers is rounded
    auto p = make(2, 260);
    std::ranges::fill(p.q, u16{0}); // all keys alike: sums of v are the largest there are
    for (u64 i = 0; i < p.v.size(); ++i)
        p.v[i] = p.word(i % p.d % 3 ? large : -large);
    check(p, "large halves in v");
    p = make(2, 130);
    p.scale = 1;
    for (u32 j = 0; j < p.sk; ++j) // each other key has all of the sum
        std::ranges::fill_n(value(p, j) - p.v.data() + p.k.data(), p.d,
                            p.word(j % 2 ? power : -power));
    std::ranges::fill(p.q, p.word(power));
    check(p, "large halves in q and k");
}

// bf16 near the largest that the contracts' `range` allows: dots of 2^dot, and v of which all keys
// have 2^127 together, where a key's p may be 2^weight.
void largest_values(const auto &make, const auto &value, const auto &check, int dot, int weight) {
    constexpr u32 keys = 260, stage = 128; // of this many keys at most
    auto p = make(2, keys);
    if (p.dtype != Dtype::bf16)
        return;
    p.scale = 1;
    const auto key = [&](u32 j) { return value(p, j) - p.v.data() + p.k.data(); };
    for (const auto &[what, least] : {std::pair{"dots rise to the largest", 0u}, {"dots fall", 1u}})
        for (bool in_turn : {false, true}) {
            std::ranges::fill(p.q, p.word(std::ldexp(1.0 / p.d, dot - 8)));
            for (u32 j = 0; j < keys; ++j)
                std::ranges::fill_n(
                    key(j), p.d, p.word((in_turn ? j : j / stage) % 2 == least ? -0x1p8 : 0x1p8));
            check(p, what);
        }
    p.scale = 0.693147f; // a dot is a logit in log2
    std::ranges::fill(p.q, u16{0});
    std::ranges::fill(p.k, u16{0});
    const f64 most = std::ldexp(1.0, 127 - 9 - weight); // 2^9 > keys
    for (u64 i = 0; i < p.v.size(); ++i)
        p.v[i] = p.word(i % p.d % 3 ? most : -most);
    check(p, "the largest sums of v");
    for (u64 i = 0; i < p.q.size(); i += p.d)
        p.q[i] = p.word(1);
    for (u32 j = stage + 5; j < keys; j += stage)
        *key(j) = p.word(11);
    check(p, "the largest sums of v, after keys that weigh less");
}

// make(queries, keys) returns a case with that many keys and at least that many queries;
// value(case, j) the row of v for key j. check(case, what) runs it.
void plain_values(const auto &make, const auto &value, const auto &check) {
    auto p = make(2, 257);
    std::ranges::fill(p.q, u16{0});
    check(p, "q = 0");
    p = make(2, 260);
    for (u64 i = 0; i < p.v.size(); ++i)
        p.v[i] = p.word(1 + static_cast<f64>(i % p.d) / 64);
    check(p, "v alike in every row");
    p = make(2, 130);
    std::ranges::fill(p.v, u16{0});
    for (u32 j = 0; j < p.sk; ++j)
        value(p, j)[j % p.d] = p.word(1);
    check(p, "v one-hot");
    p = make(8, 100);
    for (u32 j = 0; j < p.sk; ++j) // each query sees a v that those before it must not
        std::ranges::fill_n(value(p, j), p.d, p.word(std::ldexp(1.0, static_cast<int>(j / 8))));
    check(p, "values that double");
    p = make(2, 150);
    p.scale = 0x1p-40f;
    check(p, "a small scale");
    p = make(2, 150);
    for (auto *x : {&p.q, &p.k})
        for (u64 i = 0; i < x->size(); ++i)
            (*x)[i] = i % 3 ? p.word(0) : static_cast<u16>(i * 7 % 31); // subnormals
    p.scale = 0x1p30f;
    check(p, "subnormal q and k");
    large_values(make, value, check);
}

// Rows of a case's o, [b, sq, h, d], from memory; fails the test where that differs elsewhere from
// what it was. at(b, row, head) is where a row begins, in bytes.
std::vector<u16> rows_of_o(Test &t, const auto &p, std::vector<u8> got,
                           const std::vector<u8> &before, const auto &at,
                           std::source_location where) {
    std::vector<u16> out(p.q.size());
    for (u64 i = 0; i < out.size() / p.d; ++i) {
        u8 *const row = &got[at(i / p.h / p.sq, i / p.h % p.sq, i % p.h)];
        std::memcpy(&out[i * p.d], row, 2 * u64{p.d});
        std::memset(row, 0xff, 2 * u64{p.d});
    }
    if (got != before)
        t.fail("o: something was written between rows", where);
    return out;
}

// Outputs of two launches are the same bits.
void check_same(Test &t, Dtype dtype, const auto &first, const auto &second,
                std::source_location where) {
    t.same("o", dtype, second.o, first.o);
    if (std::memcmp(first.lse.data(), second.lse.data(), 4 * first.lse.size()) != 0)
        t.fail("lse differs", where);
}

} // namespace nw::check

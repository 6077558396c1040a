// SPDX-License-Identifier: MIT
// Values chosen to hurt any attention, of few queries or of many.
#pragma once
#include <algorithm>
#include <cmath>

#include "base/types.h"

namespace nw::check {

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
}

} // namespace nw::check

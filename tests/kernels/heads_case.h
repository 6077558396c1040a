// SPDX-License-Identifier: MIT
// Heads of tokens as rope_norm's phases make them, and where in a cache they belong: for tests of
// the families that have these phases.
#pragma once
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "base/half.h"
#include "kernels/tensor.h"
#include "ref/rope.h"

namespace nw::check {

constexpr f32 heads_eps = 1e-6f;

struct Heads {
    u32 d, heads, pairs;
    bool neox;
    const std::vector<f32> *w = nullptr; // no norm
};

struct Head {
    std::vector<f64> y, most; // the result, and the largest error that the contract allows
};

// positions: of each pair.
Head head_of(const Heads &, std::span<const f32> x, std::span<const i32> positions);

// A row of a cache for each token; `outside`: of the first two none.
std::vector<i64> rows_of_cache(Rng &, u32 tokens, u32 rows, bool outside);

// Rows of a result: elements as f64, or where a value is rounded to T.
inline f64 value_of(f32 x) { return x; }
inline f64 value_of(u16 x) { return f16_to_f32(x); }

// Fails unless row at[t] of y has the heads of token t of xs, for each row that there is, and all
// others are as `y` was before the launch. positions(t): of each pair.
template <class T, class Positions>
void check_heads(Test &t, const char *name, const Heads &p, const std::vector<T> &y,
                 const std::vector<f32> &xs, const std::vector<i64> &at, const Positions &positions,
                 std::source_location where) {
    const u64 row = u64{p.d} * p.heads, rows = y.size() / row;
    const auto rounded = [](f64 one) {
        return sizeof(T) == 2 ? f64{f16_to_f32(f32_to_f16(f32(one)))} : one;
    };
    std::vector<char> written(rows);
    for (u64 token = 0; token < at.size(); ++token) {
        if (at[token] < 0 || static_cast<u64>(at[token]) >= rows)
            continue;
        written[static_cast<u64>(at[token])] = 1;
        for (u64 h = 0; h < p.heads; ++h) {
            const u64 to = static_cast<u64>(at[token]) * row + h * p.d;
            const Head want =
                head_of(p, std::span(xs).subspan(token * row + h * p.d, p.d), positions(token));
            for (u64 i = 0; i < p.d; ++i)
                if (const f64 one = value_of(y[to + i]);
                    !(one >= rounded(want.y[i] - want.most[i]) &&
                      one <= rounded(want.y[i] + want.most[i])))
                    return t.fail(fmt::format("{} of token {}, head {}, [{}], is {}, not {} within "
                                              "{}",
                                              name, token, h, i, one, want.y[i], want.most[i]),
                                  where);
        }
    }
    T poison;
    std::memset(&poison, Tensor::poison, sizeof poison);
    for (u64 i = 0; i < y.size(); ++i)
        if (!written[i / row] && y[i] != poison)
            return t.fail(
                fmt::format("row {} of {}, which no index names, is written", i / row, name),
                where);
}

} // namespace nw::check

// SPDX-License-Identifier: MIT
// rope_norm: within what its contract states of the f64 references of rms_norm and rope, into the
// rows that indices name, and no others.
#include <cmath>
#include <fmt/format.h>

#include "base/half.h"
#include "check/check.h"
#include "kernels/tensor.h"
#include "ref/rms_norm.h"
#include "ref/rope.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

struct Case {
    u32 d, heads, tokens, pairs;
    bool norm = true;
    u32 rows = 0;            // of the cache; 0: no indices
    const char *ids = "i64"; // their type
    bool outside = false;    // two of them
    bool in_place = false;
    u64 pad = 0;
    i32 first = 5; // position
};

constexpr f32 eps = 1e-6f;

// The row of y for each token.
std::vector<i64> rows_of(Rng &rng, const Case &p) {
    std::vector<i64> out(p.tokens);
    const u32 start = p.rows ? rng.below(p.rows) : 0;
    for (u32 i = 0; i < p.tokens; ++i)
        out[i] = p.rows ? (start + 3 * i) % p.rows : i;
    if (p.outside)
        out[0] = -1, out[1] = p.rows;
    return out;
}

struct Head {
    std::vector<f64> y, most; // the result, and the largest error
};

Head head_of(const Case &p, std::span<const f32> x, const std::vector<f32> &w, i32 position,
             bool neox) {
    std::vector<f32> z(x.begin(), x.end());
    const f64 relative = p.norm ? 0x1p-20 : 0;
    if (p.norm) {
        const std::vector<f64> normed = ref::rms_norm(x, w, 1, p.d, eps);
        z.assign(normed.begin(), normed.end());
    }
    Head out;
    ref::RopeModel model{.pairs = p.pairs};
    const std::vector<i32> at(p.pairs, position);
    out.y = p.pairs ? ref::rope_row(z, ref::rope_frequencies(model), at, neox, 1)
                    : std::vector<f64>(z.begin(), z.end());
    for (u64 i = 0; i < p.d; ++i) {
        const u64 j = neox ? i % std::max(p.pairs, 1u) : i / 2;
        const u64 a = neox ? j : 2 * j, b = neox ? j + p.pairs : 2 * j + 1;
        const bool rest = i >= 2 * p.pairs;
        const f64 sum = rest ? std::fabs(z[i]) : std::fabs(z[a]) + std::fabs(z[b]);
        out.most.push_back(sum * (relative + (rest ? 0 : 0x1p-21 + 0x1p-22)));
    }
    return out;
}

template <class T>
void check_case(Test &t, const Kernel &kernel, const Case &p, std::source_location where) {
    t.shape(fmt::format("d={} heads={} tokens={} pairs={} norm={} rows={} {} in_place={}", p.d,
                        p.heads, p.tokens, p.pairs, p.norm, p.rows, p.ids, p.in_place));
    constexpr bool f16 = sizeof(T) == 2;
    const bool neox = kernel.param("layout") == "neox", wide = std::string_view(p.ids) == "i64";
    const u32 y_rows = p.rows ? p.rows : p.tokens;
    const Tensor of_x = check::tensor({p.d, p.heads, p.tokens, 1}, 4, p.pad),
                 of_y =
                     p.in_place ? of_x : check::tensor({p.d, p.heads, y_rows, 1}, sizeof(T), p.pad);
    const std::vector<f32> xs = check::normal_values(t.rng, of_x.elements()),
                           ws = check::normal_values(t.rng, p.d);
    std::vector<i32> positions(p.tokens);
    for (u32 i = 0; i < p.tokens; ++i)
        positions[i] = p.first + static_cast<i32>(i);
    const std::vector<i64> at = rows_of(t.rng, p);
    const Region x = t.region<u8>(check::placed(of_x, xs)), w = t.region<f32>(ws),
                 pos = t.region<i32>(positions),
                 turns = t.region<u64>(
                     ref::rope_turns(ref::rope_frequencies({.pairs = std::max(p.pairs, 4u)}), {})),
                 long_ids = t.region<i64>(at),
                 short_ids = t.region<i32>(std::vector<i32>(at.begin(), at.end())),
                 own = t.region<u8>(std::vector<u8>(of_y.bytes(), Tensor::poison));
    const Region &y = p.in_place ? x : own, &ids = wide ? long_ids : short_ids;
    launch(t.modules, kernel,
           ops::RopeNorm{.y_type = kernel.param("y_type"),
                         .layout = kernel.param("layout"),
                         .ids_type = p.ids,
                         .d = p.d,
                         .n1 = p.heads,
                         .n2 = p.tokens,
                         .y_rows = y_rows,
                         .pairs = p.pairs,
                         .streams = 1,
                         .eps = eps,
                         .scale = 1,
                         .x = static_cast<const f32 *>(x.data()),
                         .y = y.data(),
                         .w = p.norm ? static_cast<const f32 *>(w.data()) : nullptr,
                         .pos = p.pairs ? static_cast<const i32 *>(pos.data()) : nullptr,
                         .turns = p.pairs ? turns.data() : nullptr,
                         .ids = p.rows ? ids.data() : nullptr,
                         .x_s1 = of_x.stride[1],
                         .x_s2 = of_x.stride[2],
                         .y_s1 = of_y.stride[1],
                         .y_s2 = of_y.stride[2],
                         .ids_s1 = wide ? 8u : 4u});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("w", w, where);
    if (!p.in_place)
        t.unchanged("x", x, where);
    const std::vector<T> got = check::taken<T>(t, "y", of_y, y, where);
    std::vector<char> written(y_rows);
    const auto value = [](T one) {
        if constexpr (f16)
            return f64{f16_to_f32(one)};
        else
            return f64{one};
    };
    const auto rounded = [](f64 one) { return f16 ? f64{f16_to_f32(f32_to_f16(f32(one)))} : one; };
    for (u64 token = 0; token < p.tokens; ++token) {
        if (at[token] < 0 || at[token] >= y_rows)
            continue;
        written[static_cast<u64>(at[token])] = 1;
        for (u64 h = 0; h < p.heads; ++h) {
            const u64 from = (token * p.heads + h) * p.d,
                      to = (static_cast<u64>(at[token]) * p.heads + h) * p.d;
            const Head want =
                head_of(p, std::span(xs).subspan(from, p.d), ws, positions[token], neox);
            for (u64 i = 0; i < p.d; ++i) {
                const f64 one = value(got[to + i]);
                if (!(one >= rounded(want.y[i] - want.most[i]) &&
                      one <= rounded(want.y[i] + want.most[i])))
                    return t.fail(fmt::format("y of token {}, head {}, [{}], is {}, not {} within "
                                              "{}",
                                              token, h, i, one, want.y[i], want.most[i]),
                                  where);
            }
        }
    }
    T poison;
    std::memset(&poison, Tensor::poison, sizeof poison);
    for (u64 i = 0; i < got.size(); ++i)
        if (!written[i / p.d / p.heads] && got[i] != poison)
            return t.fail(
                fmt::format("row {} of y, which no index names, is written", i / p.d / p.heads),
                where);
}

void check_heads(Test &t, const Kernel &kernel, Case p,
                 std::source_location where = std::source_location::current()) {
    if (kernel.param("y_type") == "f32")
        return check_case<f32>(t, kernel, p, where);
    p.in_place = false;
    check_case<u16>(t, kernel, p, where);
}

} // namespace

CHECK_FAMILY(rope_norm) {
    if (t.entry)
        return check_heads(t, kernel, {128, 3, 2, 64});
    check_heads(t, kernel, {.d = 128, .heads = 5, .tokens = 3, .pairs = 64, .rows = 11, .pad = 8});
    check_heads(t, kernel, {.d = 64, .heads = 3, .tokens = 3, .pairs = 32, .in_place = true});
    check_heads(t, kernel,
                {.d = 256, .heads = 2, .tokens = 4, .pairs = 32, .rows = 10, .ids = "i32"});
    check_heads(t, kernel,
                {.d = 128, .heads = 2, .tokens = 3, .pairs = 64, .norm = false, .rows = 7});
    check_heads(t, kernel,
                {.d = 128, .heads = 2, .tokens = 3, .pairs = 0, .norm = false, .rows = 7});
    check_heads(t, kernel,
                {.d = 64, .heads = 4, .tokens = 4, .pairs = 32, .rows = 13, .outside = true});
    if (t.checkers)
        return;
    check_heads(t, kernel, {.d = 256, .heads = 3, .tokens = 33, .pairs = 128, .in_place = true});
    check_heads(t, kernel,
                {.d = 128, .heads = 32, .tokens = 7, .pairs = 64, .rows = 40, .first = 100000});
}

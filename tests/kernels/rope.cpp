// SPDX-License-Identifier: MIT
// rope: within what its contract states of the f64 reference, at positions up to 2^20 and below 0,
// with frequency factors, YaRN, several positions of a token and a rest that stays as it is.
#include "ref/rope.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/half.h"
#include "check/check.h"
#include "kernels/tensor.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

struct Case {
    std::array<u32, 4> n; // d, heads, tokens, sequences
    ref::RopeModel model;
    u32 streams = 1;
    i32 first = 0; // position
    u32 begin = 0; // the element that pairs begin with
    u64 pad = 0;
    bool permuted = false, in_place = false;
    f32 scale = 1;
};

std::vector<i32> positions_of(Rng &rng, const Case &p) {
    std::vector<i32> out;
    for (u32 stream = 0; stream < p.streams; ++stream)
        for (u32 token = 0; token < p.n[2]; ++token)
            out.push_back(p.first + static_cast<i32>(stream ? rng.below(500) : token));
    return out;
}

// Streams of the pairs, three for one, as models have them in sections; more than there may be.
std::vector<u32> streams_of(const Case &p) {
    std::vector<u32> out;
    for (u32 j = 0; j < p.model.pairs; ++j)
        out.push_back(j / 3 % 4);
    return out;
}

struct Rows {
    std::vector<f32> x; // as f16 has it, of f16
    std::vector<f64> want, most;
};

// The reference, and the error that the contract allows: of cos and sin, and of two products and a
// sum.
Rows rows_of(Rng &rng, const Case &p, const std::vector<i32> &positions, bool neox, bool f16) {
    Rows out;
    const std::vector<f64> frequencies = ref::rope_frequencies(p.model);
    const std::vector<u32> streams = streams_of(p);
    const u64 d = p.n[0], rows = u64{p.n[1]} * p.n[2] * p.n[3];
    for (u64 row = 0; row < rows; ++row) {
        std::vector<f32> x = check::normal_values(rng, d);
        for (f32 &one : x)
            one = f16 ? f16_to_f32(f32_to_f16(one)) : one;
        std::vector<i32> at;
        for (const u32 stream : streams)
            at.push_back(
                positions[std::min(stream, p.streams - 1) * p.n[2] + row / p.n[1] % p.n[2]]);
        const std::vector<f64> y = ref::rope_row(x, frequencies, at, neox, p.scale, p.begin);
        for (u64 i = 0; i < d; ++i) {
            const bool rest = i < p.begin || i >= p.begin + 2 * p.model.pairs;
            const u64 at_pairs = i - p.begin, pairs = p.model.pairs;
            const u64 a = neox ? at_pairs % pairs : at_pairs / 2 * 2, b = a + (neox ? pairs : 1);
            const f64 sum = rest ? 0 : std::fabs(x[p.begin + a]) + std::fabs(x[p.begin + b]);
            out.most.push_back(sum * p.scale * (0x1p-21 + 0x1p-22));
        }
        out.x.insert(out.x.end(), x.begin(), x.end());
        out.want.insert(out.want.end(), y.begin(), y.end());
    }
    return out;
}

void check_values(Test &t, const Rows &rows, const std::vector<f32> &got, bool f16, u32 d,
                  std::source_location where) {
    const auto rounded = [&](f64 y) { return f16 ? f64{f16_to_f32(f32_to_f16(f32(y)))} : y; };
    for (u64 i = 0; i < got.size(); ++i)
        if (!(got[i] >= rounded(rows.want[i] - rows.most[i]) &&
              got[i] <= rounded(rows.want[i] + rows.most[i])))
            return t.fail(fmt::format("y of row {}, [{}], is {}, not {} within {}", i / d, i % d,
                                      got[i], rows.want[i], rows.most[i]),
                          where);
}

template <class T> T stored(f32 x) {
    if constexpr (sizeof(T) == 2)
        return f32_to_f16(x);
    else
        return x;
}

template <class T>
void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where) {
    t.shape(fmt::format("{} pairs={} begin={} streams={} first={} {}", fmt::join(p.n, "x"),
                        p.model.pairs, p.begin, p.streams, p.first, what));
    const bool neox = kernel.param("layout") == "neox", f16 = sizeof(T) == 2;
    const Tensor in = check::tensor(p.n, sizeof(T), p.pad, p.permuted),
                 out = p.in_place ? in : check::tensor(p.n, sizeof(T), p.pad);
    const std::vector<i32> positions = positions_of(t.rng, p);
    const Rows rows = rows_of(t.rng, p, positions, neox, f16);
    std::vector<T> values;
    for (const f32 x : rows.x)
        values.push_back(stored<T>(x));
    const Region x = t.region<u8>(check::placed(in, values)), pos = t.region<i32>(positions),
                 turns =
                     t.region<u64>(ref::rope_turns(ref::rope_frequencies(p.model), streams_of(p))),
                 own = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    const Region &y = p.in_place ? x : own;
    launch(t.modules, kernel,
           ops::Rope{.y_type = kernel.param("y_type"),
                     .layout = kernel.param("layout"),
                     .d = p.n[0],
                     .n1 = p.n[1],
                     .n2 = p.n[2],
                     .n3 = p.n[3],
                     .pairs = p.model.pairs,
                     .streams = p.streams,
                     .scale = p.scale,
                     .first = p.begin,
                     .x = x.data(),
                     .y = y.data(),
                     .pos = static_cast<const i32 *>(pos.data()),
                     .turns = turns.data(),
                     .x_s1 = in.stride[1],
                     .x_s2 = in.stride[2],
                     .x_s3 = in.stride[3],
                     .y_s1 = out.stride[1],
                     .y_s2 = out.stride[2],
                     .y_s3 = out.stride[3]});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("pos", pos, where);
    t.unchanged("turns", turns, where);
    if (!p.in_place)
        t.unchanged("x", x, where);
    std::vector<f32> got;
    for (const T one : check::taken<T>(t, "y", out, y, where)) {
        if constexpr (sizeof(T) == 2)
            got.push_back(f16_to_f32(one));
        else
            got.push_back(one);
    }
    check_values(t, rows, got, f16, p.n[0], where);
}

void check_rows(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    if (kernel.param("y_type") == "f16")
        check_case<u16>(t, kernel, p, what, where);
    else
        check_case<f32>(t, kernel, p, what, where);
}

// As in Llama 3.1's files, for its 64 pairs.
std::vector<f32> factors(u32 pairs) {
    std::vector<f32> out(pairs, 1);
    for (u32 j = pairs / 2; j < pairs; ++j)
        out[j] = j < 5 * pairs / 8 ? 1.0f + 7.0f * (j - pairs / 2.0f) / (pairs / 8.0f) : 8.0f;
    return out;
}

} // namespace

CHECK_FAMILY(rope) {
    if (t.entry)
        return check_rows(t, kernel, {.n = {128, 3, 3, 1}, .model = {.pairs = 64}}, "entry");
    check_rows(t, kernel, {.n = {128, 5, 3, 2}, .model = {.pairs = 64}, .pad = 8, .permuted = true},
               "permuted");
    check_rows(t, kernel,
               {.n = {256, 2, 5, 1}, .model = {.pairs = 32, .base = 1e7}, .in_place = true},
               "part");
    check_rows(t, kernel, {.n = {80, 3, 5, 1}, .model = {.pairs = 40}, .first = -3, .pad = 16},
               "below 0");
    check_rows(t, kernel, {.n = {96, 2, 4, 1}, .model = {.pairs = 32}, .streams = 4, .first = 100},
               "streams");
    check_rows(t, kernel, {.n = {64, 2, 3, 1}, .model = {.pairs = 32}, .streams = 2},
               "two streams");
    if (kernel.number("width") == 2) {
        check_rows(t, kernel,
                   {.n = {37, 3, 5, 1}, .model = {.pairs = 10}, .pad = 1, .permuted = true},
                   "odd rows");
        check_rows(t, kernel,
                   {.n = {101, 2, 5, 2}, .model = {.pairs = 13}, .begin = 33, .in_place = true},
                   "offset");
        check_rows(t, kernel, {.n = {36, 7, 9, 1}, .model = {.pairs = 6}, .begin = 24}, "behind");
        check_rows(t, kernel, {.n = {2, 1, 3, 1}, .model = {.pairs = 1}}, "a pair");
        check_rows(t, kernel, {.n = {12, 2, 4, 1}, .model = {.pairs = 5}, .streams = 3, .begin = 1},
                   "odd offset");
    }
    if (t.checkers)
        return;
    for (const i32 first : {-(1 << 20), 4095, 65533, (1 << 20) - 4, 2147483640})
        check_rows(t, kernel,
                   {.n = {128, 2, 8, 1}, .model = {.pairs = 64, .base = 5e5}, .first = first},
                   "position");
    check_rows(t, kernel,
               {.n = {128, 2, 9, 1},
                .model = {.pairs = 64, .base = 5e5, .factors = factors(64)},
                .first = 130000},
               "factors");
    check_rows(t, kernel,
               {.n = {128, 2, 9, 1},
                .model = {.pairs = 64, .base = 150000, .frequency_scale = 1.0 / 32, .extension = 1},
                .first = 100000,
                .scale = 1.3465736f},
               "YaRN");
    check_rows(t, kernel, {.n = {8, 1, 1, 1}, .model = {.pairs = 4}, .first = 7}, "least");
    check_rows(t, kernel, {.n = {64, 7, 33, 3}, .model = {.pairs = 32}}, "many");
}

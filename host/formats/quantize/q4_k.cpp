// SPDX-License-Identifier: MIT
#include "formats/quantize/q4_k.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <optional>

#include "base/error.h"
#include "base/half.h"

namespace nw {

namespace {

constexpr u32 sub = 32, subs = 8;
constexpr i32 most_steps = 63; // of sc and m
constexpr f32 most_half = 65504;
constexpr u32 trials = 21;

using SubBlock = std::span<const f32, sub>;
using Lanes [[gnu::vector_size(16)]] = f32; // SSE2 and NEON have it
constexpr u32 lanes = sizeof(Lanes) / sizeof(f32), vectors = sub / lanes;

// w = a * q - b
struct Line {
    f32 a, b;
};

Lanes part_of(SubBlock w, u32 vector) {
    Lanes part;
    std::memcpy(&part, &w[vector * lanes], sizeof part);
    return part;
}

// Nearest even of x limited to 0..15.
template <class X> X nearest_q(X x) {
    const X least = x < 0.0f ? X{} : x, limited = least > 15.0f ? X{} + 15.0f : least;
    return (limited + 0x1.8p23f) - 0x1.8p23f;
}

f32 sum_of(Lanes x) { return (x[0] + x[1]) + (x[2] + x[3]); }

// With the nearest q of each weight. An a of 0 has q = 0.
f32 squared_error(SubBlock w, const Line &line) {
    const f32 inverse = line.a > 0 ? 1 / line.a : 0;
    Lanes sum{};
    for (u32 v = 0; v < vectors; ++v) {
        const Lanes x = part_of(w, v), q = nearest_q((x + line.b) * inverse);
        const Lanes e = line.a * q - line.b - x;
        sum += e * e;
    }
    return sum_of(sum);
}

struct Fit {
    Line line;
    f32 error; // squared, less the sum of squared weights
};

// Least squares: minimizes sum (a * q - b - w)^2 with a, b >= 0 for q = nearest_q(t * (w - low)).
std::optional<Fit> fit(SubBlock w, f32 t, f32 low) {
    Lanes q1{}, q2{}, w1{}, wq{};
    for (u32 v = 0; v < vectors; ++v) {
        const Lanes x = part_of(w, v), q = nearest_q((x - low) * t);
        q1 += q;
        q2 += q * q;
        w1 += x;
        wq += x * q;
    }
    const f32 sum_q = sum_of(q1), sum_q2 = sum_of(q2), sum_w = sum_of(w1), sum_wq = sum_of(wq);
    const f32 determinant = sub * sum_q2 - sum_q * sum_q;
    if (!(determinant > 0)) // all q are equal
        return std::nullopt;
    Line line{(sub * sum_wq - sum_w * sum_q) / determinant,
              (sum_q * sum_wq - sum_q2 * sum_w) / determinant};
    if (line.b < 0)
        line = {sum_wq / sum_q2, 0};
    if (!(line.a > 0))
        return std::nullopt;
    // The residual is orthogonal to what was fitted: its square is that with w alone.
    return Fit{line, line.b * sum_w - line.a * sum_wq};
}

struct SubRange {
    f32 low, high; // with 0 between them
};

SubRange range_of_sub(SubBlock w) {
    const auto [low, high] = std::ranges::minmax(w);
    return {std::min(low, 0.0f), std::max(high, 0.0f)};
}

Line best_line(SubBlock w, const SubRange &range, Clip clip) {
    const f32 width = range.high - range.low;
    const Line whole{width / 15, -range.low};
    if (clip == Clip::none || !(whole.a > 0))
        return whole;
    Fit best{whole, 0};
    for (u32 trial = 0; trial < trials; ++trial)
        if (const auto found = fit(w, (14 + static_cast<f32>(trial) / 10) / width, range.low);
            found && found->error < best.error)
            best = *found;
    return squared_error(w, best.line) < squared_error(w, whole) ? best.line : whole;
}

struct Steps {
    i32 sc, m;
};

Steps best_steps(SubBlock w, const Line &line, f32 d, f32 dmin, Clip clip) {
    const auto steps = [](f32 x, f32 unit) {
        return unit > 0 ? static_cast<i32>(std::lrint(std::min<f32>(x / unit, most_steps))) : 0;
    };
    const Steps nearest{steps(line.a, d), steps(line.b, dmin)};
    if (clip == Clip::none)
        return nearest;
    Steps best = nearest;
    f32 least = INFINITY;
    for (i32 m = nearest.m - 1; m <= nearest.m + 1; ++m)
        for (i32 sc = nearest.sc - 1; sc <= nearest.sc + 1; ++sc) {
            if (std::min(m, sc) < 0 || std::max(m, sc) > most_steps)
                continue;
            const f32 error =
                squared_error(w, {d * static_cast<f32>(sc), dmin * static_cast<f32>(m)});
            if (error < least)
                least = error, best = {sc, m};
        }
    return best;
}

// ref/gguf.cpp: sub_scale has the layout.
void put_steps(BlockQ4_K &block, u32 j, const Steps &steps) {
    const u32 sc = static_cast<u32>(steps.sc), m = static_cast<u32>(steps.m);
    const auto set = [&](u32 at, u32 bits) { block.scales[at] |= static_cast<u8>(bits); };
    if (j < 4) {
        set(j, sc);
        set(j + 4, m);
    } else {
        set(j + 4, (sc & 15) | (m & 15) << 4);
        set(j - 4, sc >> 4 << 6);
        set(j, m >> 4 << 6);
    }
}

void put_sub_block(BlockQ4_K &block, u32 j, SubBlock w, const Steps &steps, f32 d, f32 dmin,
                   std::span<f64> stored) {
    put_steps(block, j, steps);
    const f32 a = d * static_cast<f32>(steps.sc), b = dmin * static_cast<f32>(steps.m);
    const f32 inverse = a > 0 ? 1 / a : 0;
    for (u32 i = 0; i < sub; ++i) {
        const f32 q = nearest_q((w[i] + b) * inverse), product = a * q;
        block.qs[j / 2 * sub + i] |= static_cast<u8>(static_cast<u32>(q) << j % 2 * 4);
        stored[j * sub + i] = product - b;
    }
}

void check_range(const SubRange &range) {
    const f64 low = range.low, high = range.high;
    if ((high - low) / 15 > f64{most_half} * most_steps || -low > f64{most_half} * most_steps)
        throw Error(fmt::format("weights from {} to {} are out of the range of q4_K, whose scales "
                                "are f16: must be within {} and not below {}",
                                low, high, f64{most_half} * most_steps * 15,
                                -f64{most_half} * most_steps));
}

BlockQ4_K block_of(std::span<const f32> w, Clip clip, std::span<f64> stored) {
    const auto part = [&](u32 j) { return SubBlock(w.subspan(j * sub, sub)); };
    Line lines[subs], most{0, 0};
    for (u32 j = 0; j < subs; ++j) {
        const SubRange range = range_of_sub(part(j));
        check_range(range);
        lines[j] = best_line(part(j), range, clip);
        most = {std::max(most.a, lines[j].a), std::max(most.b, lines[j].b)};
    }
    BlockQ4_K block{};
    block.d = f32_to_f16(std::min(most.a / most_steps, most_half));
    block.dmin = f32_to_f16(std::min(most.b / most_steps, most_half));
    const f32 d = f16_to_f32(block.d), dmin = f16_to_f32(block.dmin);
    for (u32 j = 0; j < subs; ++j)
        put_sub_block(block, j, part(j), best_steps(part(j), lines[j], d, dmin, clip), d, dmin,
                      stored);
    return block;
}

f64 squared_error(std::span<const f32> w, std::span<const f64> stored) {
    f64 sum = 0;
    for (std::size_t i = 0; i < w.size(); ++i)
        sum += (w[i] - stored[i]) * (w[i] - stored[i]);
    return sum;
}

} // namespace

BlockQ4_K quantize_q4_K(std::span<const f32> w, Clip clip, std::span<f64> stored) {
    const BlockQ4_K rounded = block_of(w, Clip::none, stored);
    if (clip == Clip::none)
        return rounded;
    f64 searched_for[BlockQ4_K::elements];
    const BlockQ4_K searched = block_of(w, clip, searched_for);
    if (!(squared_error(w, searched_for) < squared_error(w, stored)))
        return rounded;
    std::ranges::copy(searched_for, stored.begin());
    return searched;
}

} // namespace nw

// SPDX-License-Identifier: MIT
#include "formats/quantize/int4.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "base/parallel.h"

namespace nw {

namespace {

constexpr u32 symmetric_zero = 8;

struct Range {
    f64 low, high; // with 0 between them; NaN or infinite if a weight is
};

Range range_of(std::span<const f32> w) {
    f32 low = 0, high = 0, poison = 0;
    for (f32 x : w) {
        low = std::min(low, x);
        high = std::max(high, x);
        poison += x * 0; // min and max drop NaN: this propagates it
    }
    return {f64{low} + poison, f64{high} + poison};
}

// Nearest even for |x| < 2^51: adding 1.5 * 2^52 rounds away the fraction.
f64 round_even(f64 x) { return (x + 0x1.8p52) - 0x1.8p52; }
f32 round_even(f32 x) { return (x + 0x1.8p23f) - 0x1.8p23f; } // for |x| < 2^22

// Scale and zero point of a group.
struct Grid {
    u16 s;     // bits
    f64 scale; // the number
    u32 z;
};

Grid grid_of(const Range &range, f64 ratio, const Int4Options &o) {
    const f64 wanted = o.zero_points ? ratio * ((range.high - range.low) / 15)
                                     : ratio * std::max(range.high / 7, range.low / -8);
    Grid grid{round_to(o.dtype, wanted), 0, symmetric_zero};
    grid.scale = to_f32(o.dtype, grid.s);
    if (o.zero_points && grid.scale > 0)
        grid.z =
            static_cast<u32>(round_even(std::clamp(ratio * -range.low / grid.scale, 0.0, 15.0)));
    return grid;
}

// Squared error of a group, whose weights and scale are in a common unit of the scale's size:
// neither tiny nor huge weights leave the range of f32.
f32 squared_error(std::span<const f32> w, f32 scale, u32 z) {
    constexpr u32 lanes = 8; // groups are multiples; a vector's worth of sums
    const f32 inverse = 1 / scale, low = -static_cast<f32>(z), high = low + 15;
    f32 sums[lanes] = {};
    for (std::size_t at = 0; at < w.size(); at += lanes) {
        for (u32 i = 0; i < lanes; ++i) {
            const f32 x = w[at + i] * inverse, least = x < low ? low : x;
            const f32 d = w[at + i] - scale * round_even(least > high ? high : least);
            sums[i] += d * d;
        }
    }
    f32 sum = 0;
    for (f32 part : sums)
        sum += part;
    return sum;
}

// `unit` has room for the group.
Grid best_grid(std::span<const f32> w, const Range &range, const Int4Options &o,
               std::span<f32> unit) {
    Grid best = grid_of(range, 1, o);
    const f64 reciprocal = 1 / best.scale;
    for (std::size_t i = 0; i < w.size(); ++i)
        unit[i] = static_cast<f32>(w[i] * reciprocal);
    f32 least = squared_error(unit, 1, best.z);
    for (u32 i = 1; i < int4_ratios; ++i) {
        const Grid grid = grid_of(range, 1 - i / (2.0 * (int4_ratios - 1)), o);
        if (grid.scale == 0)
            break;
        const f32 error = squared_error(unit, static_cast<f32>(grid.scale * reciprocal), grid.z);
        if (error < least)
            least = error, best = grid;
    }
    return best;
}

void check_scale(std::size_t g, const Range &range, const Grid &grid, Dtype dtype) {
    if (!std::isfinite(range.high - range.low))
        throw Error(fmt::format(
            "group {}: holds a weight that is not finite; quantization needs finite weights", g));
    if (!std::isfinite(grid.scale))
        throw Error(fmt::format("group {}: weights from {} to {} need a scale above the range of "
                                "{}; use bf16 scales or smaller weights",
                                g, range.low, range.high, name(dtype)));
}

void check_group(u32 k, u32 group) {
    if (group == 0 || k == 0 || k % group)
        throw Error(
            fmt::format("k = {}: must be a positive multiple of the group size {}", k, group));
    if (group % 8)
        throw Error(fmt::format("group = {}: must be a multiple of 8", group));
}

} // namespace

void quantize_row(std::span<const f32> w, const Int4Options &o, std::span<u8> q, std::span<u16> s,
                  std::span<u8> z) {
    std::vector<f32> unit(o.clip == Clip::mse ? o.group : 0);
    for (std::size_t g = 0; g < s.size(); ++g) {
        const std::span<const f32> from = w.subspan(g * o.group, o.group);
        const std::span<u8> to = q.subspan(g * o.group, o.group);
        const Range range = range_of(from);
        Grid grid = grid_of(range, 1, o);
        check_scale(g, range, grid, o.dtype);
        if (grid.scale > 0 && o.clip == Clip::mse)
            grid = best_grid(from, range, o, unit);
        s[g] = grid.s;
        if (o.zero_points)
            z[g] = static_cast<u8>(grid.z);
        if (grid.scale == 0) {
            std::ranges::fill(to, static_cast<u8>(symmetric_zero));
            continue;
        }
        // A quotient of 24 by at most 11 bits can't round onto a tie in double, so this is exact.
        const f64 low = -static_cast<f64>(grid.z), high = low + 15;
        for (u32 i = 0; i < o.group; ++i)
            to[i] = static_cast<u8>(round_even(std::clamp(from[i] / grid.scale, low, high)) - low);
    }
}

QuantizedRows quantize_rows(std::span<const f32> w, u32 n, u32 k, const Int4Options &o) {
    check_group(k, o.group);
    if (w.size() != u64{n} * k)
        throw Error(fmt::format("weights have {} elements, need {} (N*K)", w.size(), u64{n} * k));
    const u64 groups = k / o.group;
    QuantizedRows out{std::vector<u8>(w.size()), std::vector<u16>(n * groups),
                      std::vector<u8>(o.zero_points ? n * groups : 0)};
    parallel_for(n, 1 + (1 << 16) / k, [&](u64 begin, u64 end) {
        for (u64 row = begin; row < end; ++row)
            quantize_row(w.subspan(row * k, k), o, std::span(out.q).subspan(row * k, k),
                         std::span(out.s).subspan(row * groups, groups),
                         o.zero_points ? std::span(out.z).subspan(row * groups, groups)
                                       : std::span<u8>());
    });
    return out;
}

} // namespace nw

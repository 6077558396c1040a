// SPDX-License-Identifier: MIT
#include "ref/wmma.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "base/targets.h"

namespace nw::ref {

namespace {

constexpr int none = -10000; // below every grid

// Exponent of a normal number; subnormals and zero give -127, below any normal.
int exponent_of(f32 x) { return static_cast<int>(std::bit_cast<u32>(x) >> 23 & 255) - 127; }
// Exponent of an f16: subnormals have that of the smallest normal number.
int half_exponent_of(f32 x) { return std::max(exponent_of(x), -14); }

f64 power_of_2(int e) { return std::bit_cast<f64>(static_cast<u64>(1023 + e) << 52); }

struct Product {
    f64 value; // exact
    int exponent;

    Product(f32 a, f32 b)
        : value(f64{a} * b),
          exponent(value == 0 ? none : half_exponent_of(a) + half_exponent_of(b)) {}
};

// Branchless: nearly always all are checked.
bool all_finite(std::span<const f32, 16> x) {
    u32 most = 0;
    for (f32 value : x)
        most = std::max(most, std::bit_cast<u32>(value) & 0x7f800000);
    return most != 0x7f800000;
}

// The value, of less than 2^63 units of 2^grid, in those, rounded towards minus infinity. As
// std::floor, which without SSE4.1 is a call of the C library.
f64 units(f64 x, int grid) {
    const f64 exact = x * power_of_2(-grid), towards_0 = static_cast<f64>(static_cast<i64>(exact));
    return towards_0 > exact ? towards_0 - 1 : towards_0;
}

// A term whose sign differs from c's counts one unit more, even if it is zero.
f32 step_gfx11(const Product &p, const Product &q, f32 c) {
    const bool negative = std::signbit(c);
    if (std::fabs(c) < 0x1p-126f)
        c = 0;
    if (p.value == 0 && q.value == 0 && c == 0)
        return 0;
    const int lead = c == 0 ? none : exponent_of(c) - 26;
    const int grid = std::max(std::max(p.exponent, q.exponent) - 24, lead);
    const f64 per_value = power_of_2(-grid);
    i64 sum = static_cast<i64>(std::fabs(c) * per_value);
    for (f64 value : {p.value, q.value}) {
        const i64 magnitude = static_cast<i64>(std::fabs(value) * per_value);
        sum += std::signbit(value) == negative ? magnitude : -magnitude - 1;
    }
    const f32 result = static_cast<f32>(static_cast<f64>(negative ? -sum : sum) * power_of_2(grid));
    return std::fabs(result) < 0x1p-126f ? 0 : result;
}

// Each pair is first truncated to its own grid.
struct Pair {
    f64 sum; // units of 2^grid
    int grid;

    Pair(const Product &p, const Product &q) : sum(0), grid(std::max(p.exponent, q.exponent) - 24) {
        if (grid >= none / 2)
            sum = units(p.value, grid) + units(q.value, grid);
    }
};

f32 step_gfx12(const Pair &p, const Pair &q, f32 c) {
    const int lead = std::max(exponent_of(c), -126);
    const int grid = std::max(std::max(p.grid, q.grid), lead - 26);
    f64 sum = 0;
    for (const Pair &pair : {p, q})
        sum += pair.sum == 0 ? 0 : units(pair.sum, grid - pair.grid);
    // A c with no bit on the grid is dropped, unless the grid is as fine as c can be.
    if (units(std::fabs(c), grid) != 0 || grid <= -126)
        sum += units(c, grid);
    const f32 result = static_cast<f32>(sum * power_of_2(grid));
    return result == 0 ? 0 : result;
}

} // namespace

WmmaSum wmma_sum(std::string_view gfx) {
    const Target *target = find_target(gfx);
    if (!target || target->generation == Generation::gfx10)
        throw Error(
            fmt::format("{} has no WMMA that is known: use one of {}", gfx, target_names()));
    return target->generation == Generation::gfx11 ? WmmaSum::gfx11 : WmmaSum::gfx12;
}

f32 wmma(WmmaSum kind, std::span<const f32, 16> a, std::span<const f32, 16> b, f32 c) {
    if (!all_finite(a) || !all_finite(b) || !std::isfinite(c)) {
        f64 sum = c;
        for (int i = 0; i < 16; ++i)
            sum += f64{a[i]} * b[i];
        return static_cast<f32>(sum);
    }
    const auto product = [&](int i) { return Product(a[i], b[i]); };
    if (kind == WmmaSum::gfx11)
        for (int i = 0; i < 16; i += 2)
            c = step_gfx11(product(i), product(i + 1), c);
    else
        for (int i = 0; i < 16; i += 4)
            c = step_gfx12({product(i), product(i + 1)}, {product(i + 2), product(i + 3)}, c);
    return c;
}

} // namespace nw::ref

// SPDX-License-Identifier: MIT
#include "isa/random/steps.h"

#include <algorithm>
#include <vector>

namespace nw::oracle {

namespace {

using i128 = __int128;
using u128 = unsigned __int128;
constexpr int none = -100000; // an exponent below all others

struct Number {
    bool negative;
    u64 magnitude;
    int exponent;
    bool zero() const { return magnitude == 0; }
    int lead() const { return zero() ? none : exponent + 63 - __builtin_clzll(magnitude); }
};

// |x| in units of 2^grid, cut off. What stays has fewer than 60 bits: grids lie close below the
// largest term.
i128 truncated(const Number &x, int grid) {
    int shift = x.exponent - grid;
    if (x.zero() || shift < -63)
        return 0;
    return shift >= 0 ? i128{x.magnitude} << shift : i128{x.magnitude >> -shift};
}

i128 shifted_down(i128 v, int by) { return by > 100 ? (v < 0 ? -1 : 0) : v >> by; }

// Towards minus infinity.
i128 floored(const Number &x, int grid) {
    i128 m = x.magnitude;
    m = x.negative ? -m : m;
    int shift = x.exponent - grid;
    return x.zero() ? 0 : shift >= 0 ? m << shift : shifted_down(m, -shift);
}

// 2.51: one rounding; to bf16 through f32, whose lower half is truncated.
u64 rounded_sum(i128 sum, int grid, const StepRules &rules) {
    Real v, rest;
    u128 magnitude = static_cast<u128>(sum < 0 ? -sum : sum);
    mpfr_set_ui_2exp(v, static_cast<u64>(magnitude >> 62), 62, MPFR_RNDN);
    mpfr_set_ui_2exp(rest, static_cast<u64>(magnitude & ((u128{1} << 62) - 1)), 0, MPFR_RNDN);
    mpfr_add(v, v, rest, MPFR_RNDN);
    mpfr_mul_2si(v, v, grid, MPFR_RNDN);
    if (sum < 0)
        mpfr_neg(v, v, MPFR_RNDN);
    const Format &to = rules.out == bf16 ? f32 : rules.out;
    const bool gradual = rules.gfx12 || to == f16;
    u64 bits = rounded(to, Rounding(nearest, gradual, rules.saturate_f16 && to == f16),
                       [&](mpfr_ptr d, mpfr_rnd_t r) { return mpfr_set(d, v, r); });
    if (to.zero(bits))
        bits = 0; // and what underflows to zero is +0, too
    return rules.out == bf16 ? bits >> 16 : bits;
}

// The NaNs and infinities; nothing where all is finite.
std::optional<u64> special(std::span<const Factor> a, std::span<const Factor> b, u64 c,
                           const StepRules &rules) {
    const Format &out = rules.out;
    bool plus = false, minus = false, invalid = false;
    for (size_t n = 0; n < a.size(); ++n)
        if (a[n].nan || b[n].nan)
            return rules.factor_nan;
    for (size_t n = 0; n < a.size(); ++n) {
        if (!a[n].inf && !b[n].inf)
            continue;
        invalid |= a[n].zero() || b[n].zero();
        (a[n].negative != b[n].negative ? minus : plus) = true;
    }
    if (out.inf(c))
        (out.negative(c) ? minus : plus) = true;
    if (invalid || (plus && minus))
        return out.default_nan();
    if (out.nan(c))
        return c | out.quiet();
    if (plus || minus)
        return (minus ? out.sign() : 0) | out.infinity();
    return std::nullopt;
}

struct Products {
    std::vector<Number> value;
    std::vector<int> field; // e(a) + e(b); `none` of a zero
};

Products multiplied(std::span<const Factor> a, std::span<const Factor> b) {
    Products p;
    for (size_t n = 0; n < a.size(); ++n) {
        p.value.push_back({a[n].negative != b[n].negative, a[n].magnitude * b[n].magnitude,
                           a[n].exponent + b[n].exponent});
        p.field.push_back(p.value[n].zero() ? none : a[n].field + b[n].field);
    }
    return p;
}

u64 step_gfx11(const Products &p, const Number &c, const StepRules &rules) {
    int fields = none, lead = c.lead();
    if (rules.out == f16)
        lead = std::max(lead, -14); // 2.51; of a zero, too
    bool all_zero = c.zero();
    for (size_t n = 0; n < p.value.size(); ++n) {
        fields = std::max(fields, p.field[n]);
        lead = std::max(lead, p.value[n].lead());
        all_zero &= p.value[n].zero();
    }
    if (all_zero)
        return 0;
    const int grid = std::max(fields - 24, lead - 26);
    i128 sum = truncated(c, grid); // relative to C's sign
    for (const Number &x : p.value) {
        i128 m = truncated(x, grid);
        sum += x.negative == c.negative ? m : -m - 1;
    }
    return rounded_sum(c.negative ? -sum : sum, grid, rules);
}

u64 step_gfx12(const Products &p, const Number &c, const StepRules &rules) {
    const int least = rules.out == f16 ? -14 : -126;
    int grid = std::max(c.lead(), least) - 26;
    for (int field : p.field)
        grid = std::max(grid, field - 24);
    // A C that leaves no bits counts, if at all, as one unit below zero: where the grid isn't above
    // what C counts as at least.
    const bool counts = truncated(c, grid) || grid <= least;
    i128 sum = counts ? floored(c, grid) : 0;
    for (size_t n = 0; n < p.value.size(); n += 2) {
        const int fields = std::max(p.field[n], p.field[n + 1]), pair_grid = fields - 24;
        if (fields == none)
            continue;
        i128 pair = floored(p.value[n], pair_grid) + floored(p.value[n + 1], pair_grid);
        sum += shifted_down(pair, grid - pair_grid);
    }
    return rounded_sum(sum, grid, rules);
}

} // namespace

Factor factor(const Format &f, u64 x, bool flush) {
    Factor r;
    const unsigned raw = f.raw_exponent(x);
    r.nan = f.nan(x), r.inf = f.inf(x), r.negative = f.negative(x);
    if (r.nan || r.inf || (flush && f.subnormal(x)))
        return r;
    r.magnitude = f.magnitude(x) & (f.smallest_normal() - 1);
    if (raw)
        r.magnitude |= f.smallest_normal();
    r.field = static_cast<int>(std::max(raw, 1u)) - f.bias();
    r.exponent = r.field - static_cast<int>(f.mantissa);
    return r;
}

Factor factor_fp8(u32 code) {
    constexpr Format e4m3{8, 3, 4};
    if ((code & 0x7f) == 0x7f)
        return {.nan = true, .negative = (code & 0x80) != 0};
    if ((code & 0x78) != 0x78)
        return factor(e4m3, code);
    return {.negative = (code & 0x80) != 0, .magnitude = 8 | (code & 7), .exponent = 5, .field = 8};
}

Factor factor_bf8(u32 code) { return factor(Format{8, 2, 5}, code); }

u64 factor_nan(const Format &out) {
    return out == f16 ? 0xfe3d : out == bf16 ? 0xfffd : 0xffc00a3d;
}

u64 step(std::span<const Factor> a, std::span<const Factor> b, u64 c, const StepRules &rules) {
    const Format &out = rules.out;
    if (!rules.gfx12 && out != f16 && out.subnormal(c))
        c &= out.sign(); // 2.49
    if (auto s = special(a, b, c, rules))
        return *s;
    const Factor addend = factor(out, c);
    const Number number{addend.negative, addend.magnitude, addend.exponent};
    const Products p = multiplied(a, b);
    return rules.gfx12 ? step_gfx12(p, number, rules) : step_gfx11(p, number, rules);
}

} // namespace nw::oracle

// SPDX-License-Identifier: MIT
// Dot products: floats as the fixed-point models of 2.49 to 2.52 in wide integers, integers
// exactly.
#include <algorithm>
#include <array>

#include "isa/random/oracle.h"

namespace nw::oracle {

namespace {

// magnitude * 2^exponent. Fields as the format stores them; a zero has magnitude 0.
struct Number {
    bool negative;
    u64 magnitude;
    int exponent;
    bool zero() const { return magnitude == 0; }
    int lead() const { return exponent + 63 - __builtin_clzll(magnitude); } // not of zero
};

Number number(const Format &f, u64 x) {
    unsigned raw = f.raw_exponent(x);
    u64 fraction = f.magnitude(x) & (f.smallest_normal() - 1);
    if (raw)
        fraction |= f.smallest_normal();
    return {f.negative(x), fraction,
            static_cast<int>(std::max(raw, 1u)) - f.bias() - static_cast<int>(f.mantissa)};
}

struct Product {
    Number value;
    int field_exponents; // e(a) + e(b)
};

struct Dot2 {
    Format in, out; // of the factors; of C and the result
    std::array<u64, 2> a, b;
    u64 c;
};

// The NaNs and infinities; nothing where all is finite.
std::optional<u64> special(const Dot2 &x) {
    u64 word = x.out == f16 ? 0xfe3d : x.out == bf16 ? 0xfffd : 0xffc00a3d;
    bool plus = false, minus = false, invalid = false;
    for (int n = 0; n < 2; ++n) {
        if (x.in.nan(x.a[n]) || x.in.nan(x.b[n]))
            return word;
        if (!x.in.inf(x.a[n]) && !x.in.inf(x.b[n]))
            continue;
        invalid |= x.in.zero(x.a[n]) || x.in.zero(x.b[n]);
        (x.in.negative(x.a[n]) != x.in.negative(x.b[n]) ? minus : plus) = true;
    }
    bool c_inf = x.out.inf(x.c);
    (x.out.negative(x.c) ? minus : plus) |= c_inf;
    if (invalid || (plus && minus))
        return x.out.default_nan();
    if (x.out.nan(x.c))
        return x.c | x.out.quiet();
    if (plus || minus)
        return (minus ? x.out.sign() : 0) | x.out.infinity();
    return std::nullopt;
}

// |x| in units of 2^grid, cut off.
i128 truncated(const Number &x, int grid) {
    int shift = x.exponent - grid;
    if (x.zero() || shift < -63)
        return 0;
    return shift >= 0 ? i128{x.magnitude} << std::min(shift, 60) : i128{x.magnitude >> -shift};
}
// Towards minus infinity.
i128 floored(const Number &x, int grid) {
    i128 m = truncated(x, grid);
    if (!x.negative)
        return m;
    int shift = grid - x.exponent;
    bool rest = !x.zero() && shift > 0 && (shift > 63 || x.magnitude & ((u64{1} << shift) - 1));
    return -m - rest;
}

u64 packed_result(const Format &out, i128 sum, int grid, bool keep_subnormals, const Env &e) {
    bool negative = sum < 0;
    u128 magnitude = static_cast<u128>(negative ? -sum : sum);
    Real v;
    mpfr_set_uj_2exp(v, static_cast<u64>(magnitude >> 62), 62, MPFR_RNDN);
    Real rest;
    mpfr_set_uj_2exp(rest, static_cast<u64>(magnitude & ((u128{1} << 62) - 1)), 0, MPFR_RNDN);
    mpfr_add(v, v, rest, MPFR_RNDN);
    mpfr_mul_2si(v, v, grid, MPFR_RNDN);
    if (negative)
        mpfr_neg(v, v, MPFR_RNDN);
    const Format &to = out == bf16 ? f32 : out;
    u64 bits =
        rounded(to, Rounding(nearest, keep_subnormals || out == f16, to == f16 && e.fp16_ovfl()),
                [&](mpfr_ptr d, mpfr_rnd_t r) { return mpfr_set(d, v, r); });
    // An exact zero is +0, and so is what gfx11 flushes; gradual underflow keeps the sign.
    if (to.zero(bits) && (sum == 0 || !(keep_subnormals || out == f16)))
        bits = 0;
    return out == bf16 ? bits >> 16 : bits; // 2.51: truncation
}

u64 dot2(Dot2 x, const Env &e) {
    if (!e.gfx12) { // 2.49: flushed: bf16 factors and f32 addends
        auto flush = [](const Format &f, u64 &v) { v = f.subnormal(v) ? v & f.sign() : v; };
        for (int n = 0; n < 2 && x.in == bf16; ++n)
            flush(bf16, x.a[n]), flush(bf16, x.b[n]);
        if (x.out != f16)
            flush(x.out, x.c);
    }
    if (auto s = special(x))
        return *s;
    Number c = number(x.out, x.c);
    std::array<Product, 2> p;
    constexpr int none = -100000;
    int fields = none, lead = none;
    for (int n = 0; n < 2; ++n) {
        Number a = number(x.in, x.a[n]), b = number(x.in, x.b[n]);
        int mantissas = 2 * static_cast<int>(x.in.mantissa);
        p[n] = {{a.negative != b.negative, a.magnitude * b.magnitude, a.exponent + b.exponent},
                a.exponent + b.exponent + mantissas};
        if (p[n].value.zero())
            continue;
        fields = std::max(fields, p[n].field_exponents);
        lead = std::max(lead, p[n].value.lead());
    }
    bool all_zero = c.zero() && p[0].value.zero() && p[1].value.zero();
    int c_lead = c.zero() ? none : c.lead();
    i128 sum;
    int grid;
    if (all_zero)
        return 0;
    if (!e.gfx12) {
        if (x.out == f16)
            c_lead = std::max(c_lead, -14);
        grid = std::max(fields - 24, std::max(lead, c_lead) - 26);
        sum = truncated(c, grid); // relative to C's sign
        for (const Product &q : p) {
            i128 m = truncated(q.value, grid);
            sum += q.value.negative == c.negative ? m : -m - 1;
        }
        sum = c.negative ? -sum : sum;
    } else {
        grid = std::max(fields - 24, std::max(c_lead, x.out == f16 ? -14 : -126) - 26);
        int pair_grid = fields == none ? grid : fields - 24;
        i128 pair = floored(p[0].value, pair_grid) + floored(p[1].value, pair_grid);
        int drop = grid - pair_grid;
        pair = drop >= 100 ? (pair < 0 ? -1 : 0) : pair >> drop;
        sum = pair + (truncated(c, grid) ? floored(c, grid) : 0);
    }
    return packed_result(x.out, sum, grid, e.gfx12, e);
}

Row dot2_row(const char *name, Form form, const Format &in, const Format &out, T d, T sources) {
    Row r{name, form, d, sources, sources, d, {}};
    r.f = [=](const In &in_, const Env &e) {
        u64 neg_a = (in_.signs & 1) << 15 | (in_.signs >> 3 & 1) << 31;
        u64 neg_b = (in_.signs >> 1 & 1) << 15 | (in_.signs >> 4 & 1) << 31;
        u64 a = in_.a ^ neg_a, b = in_.b ^ neg_b, c = in_.c;
        if (in_.signs >> 5 & 1)
            c &= ~out.sign();
        if (in_.signs >> 2 & 1)
            c ^= out.sign();
        return Out(
            dot2({in, out, {low(16, a), low(16, a >> 16)}, {low(16, b), low(16, b >> 16)}, c}, e));
    };
    r.omod = r.clamp = r.modifiers = false; // 2.9, 2.12
    return r;
}

// 2.59: the exact sum wraps, or saturates with CLAMP.
void integer_dot(Rows &rows, const char *name, unsigned width, bool by_modifier) {
    Row r{name,   Form::dot, by_modifier ? T::i32 : T::u32,
          T::u32, T::u32,    by_modifier ? T::i32 : T::u32,
          {}};
    r.f = [=](const In &in, const Env &) {
        i128 v = by_modifier ? i128{sign_extended(32, in.c)} : i128{low(32, in.c)};
        for (unsigned at = 0; at < 32; at += width) {
            auto part = [&](u64 x, u32 is_signed) {
                u64 field = low(width, x >> at);
                return is_signed ? i128{sign_extended(width, field)} : i128{field};
            };
            v += part(in.a, by_modifier && in.signs & 1) * part(in.b, by_modifier && in.signs & 2);
        }
        Out out(low(32, static_cast<u64>(v)));
        out.wide = v;
        return out;
    };
    r.modifiers = by_modifier;
    add(rows, r);
}

} // namespace

void add_dot_rows(Rows &rows) {
    add(rows, dot2_row("v_dot2_f32_f16", Form::dot, f16, f32, T::s32, T::pkh16));
    add(rows, dot2_row("v_dot2_f32_bf16", Form::dot, bf16, f32, T::s32, T::pkbf16));
    add(rows, dot2_row("v_dot2acc_f32_f16", Form::accumulate, f16, f32, T::s32, T::pkh16));
    add(rows, dot2_row("v_dot2acc_f32_bf16", Form::accumulate, bf16, f32, T::s32, T::pkbf16));
    add(rows, dot2_row("v_dot2c_f32_f16", Form::accumulate, f16, f32, T::s32, T::pkh16));
    add(rows, dot2_row("v_dot2_f16_f16", Form::plain, f16, f16, T::h16, T::pkh16));
    add(rows, dot2_row("v_dot2_bf16_bf16", Form::plain, bf16, bf16, T::u16, T::pkbf16));
    integer_dot(rows, "v_dot4_u32_u8", 8, false);
    integer_dot(rows, "v_dot8_u32_u4", 4, false);
    integer_dot(rows, "v_dot4_i32_iu8", 8, true);
    integer_dot(rows, "v_dot8_i32_iu4", 4, true);
}

} // namespace nw::oracle

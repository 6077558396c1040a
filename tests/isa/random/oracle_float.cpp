// SPDX-License-Identifier: MIT
// f16, f32 and f64 arithmetic, minimum and maximum, parts of a number (2.1 to 2.22, 2.35 to 2.38,
// 2.46, 2.47).
#include <algorithm>

#include "isa/random/oracle_float.h"

namespace nw::oracle {

u64 sum(const Format &f, u64 a, u64 b, const Env &e, const Rounding &r) {
    if (auto nan = first_nan(f, {a, b}, e))
        return *nan;
    Real x(f, flushed(f, a, e)), y(f, flushed(f, b, e));
    return rounded(f, r, [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_add(d, x, y, rnd); });
}

u64 product(const Format &f, u64 a, u64 b, const Env &e, const Rounding &r) {
    if (auto nan = first_nan(f, {a, b}, e))
        return *nan;
    Real x(f, flushed(f, a, e)), y(f, flushed(f, b, e));
    return rounded(f, r, [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_mul(d, x, y, rnd); });
}

u64 fused(const Format &f, u64 a, u64 b, u64 c, const Env &e, const Rounding &r) {
    a = flushed(f, a, e), b = flushed(f, b, e), c = flushed(f, c, e);
    if ((f.zero(a) && f.inf(b)) || (f.inf(a) && f.zero(b)))
        return f.default_nan(); // 2.2: beats a NaN addend
    if (auto nan = first_nan(f, {a, b, c}, e))
        return *nan;
    Real x(f, a), y(f, b), z(f, c);
    return rounded(f, r, [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_fma(d, x, y, z, rnd); });
}

namespace {

// -0 < +0 (2.15); not for NaN.
bool less(const Format &f, u64 a, u64 b) {
    i64 x = static_cast<i64>(f.magnitude(a)), y = static_cast<i64>(f.magnitude(b));
    x = f.negative(a) ? -x - 1 : x;
    y = f.negative(b) ? -y - 1 : y;
    return x < y;
}

u64 pick(const Format &f, u64 a, u64 b, bool lesser) { return less(f, a, b) == lesser ? a : b; }

} // namespace

u64 min_max(const Format &f, u64 a, u64 b, bool lesser, const Env &e) {
    a = flushed(f, a, e), b = flushed(f, b, e);
    if (!e.gfx12 && e.ieee()) // 2.15
        for (u64 x : {a, b})
            if (f.signalling(x))
                return x | f.quiet();
    if (f.nan(a) && f.nan(b))
        return quieted(f, a, e); // 2.15 to 2.17
    if (f.nan(a))
        return b;
    if (f.nan(b))
        return a;
    return a == b ? a : pick(f, a, b, lesser);
}

u64 minimum_maximum(const Format &f, u64 a, u64 b, bool lesser, const Env &e) { // 2.18
    a = flushed(f, a, e), b = flushed(f, b, e);
    if (auto nan = first_nan(f, {a, b}, e))
        return *nan;
    return a == b ? a : pick(f, a, b, lesser);
}

namespace {

u64 median(const Format &f, u64 a, u64 b, u64 c, const Env &e) { // 2.20
    if (f.nan(a) || f.nan(b) || f.nan(c))
        return min_max(f, min_max(f, a, b, true, e), c, true, e);
    u64 v[] = {flushed(f, a, e), flushed(f, b, e), flushed(f, c, e)};
    std::sort(v, v + 3, [&](u64 x, u64 y) { return less(f, x, y); });
    return v[1];
}

// 2.37
u64 integral(const Format &f, u64 a, const Env &e, mpfr_rnd_t towards) {
    if (f.nan(a))
        return quieted(f, a, e);
    Real x(f, flushed(f, a, e)), y;
    mpfr_rint(y, x, towards);
    return rounded(f, Rounding(nearest, true),
                   [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_set(d, y, rnd); });
}

u64 fraction(const Format &f, u64 a, const Env &e) { // 2.36
    a = flushed(f, a, e);
    if (f.nan(a))
        return quieted(f, a, e);
    if (f.inf(a))
        return f.default_nan();
    Real x(f, a), whole;
    mpfr_rint_floor(whole, x, MPFR_RNDN);
    if (mpfr_equal_p(x, whole))
        return 0;
    u64 r = rounded(f, Rounding(f, e),
                    [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_sub(d, x, whole, rnd); });
    return std::min(r, f.one() - 1);
}

} // namespace

u64 scaled(const Format &f, u64 a, i64 power, const Env &e, const Rounding &r) { // 2.38
    if (f.nan(a))
        return quieted(f, a, e);
    Real x(f, flushed(f, a, e));
    return rounded(f, r,
                   [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_mul_2si(d, x, power, rnd); });
}

namespace {

i64 exponent(const Format &f, u64 a, const Env &e) { // 2.35
    a = flushed(f, a, e);
    if (f.zero(a) || f.inf(a) || f.nan(a))
        return 0;
    Real x(f, a);
    return mpfr_get_exp(x);
}

u64 significand(const Format &f, u64 a, const Env &e) { // 2.35
    a = flushed(f, a, e);
    if (f.nan(a))
        return quieted(f, a, e);
    if (f.zero(a) || f.inf(a))
        return a;
    Real x(f, a);
    mpfr_set_exp(x, 0);
    return rounded(f, Rounding(nearest, true),
                   [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_set(d, x, rnd); });
}

// 2.47
u64 product_dx9(u64 a, u64 b, const Env &e) {
    if (f32.zero(flushed(f32, a, e)) || f32.zero(flushed(f32, b, e)))
        return 0;
    return product(f32, a, b, e, Rounding(f32, e));
}
u64 fused_dx9(u64 a, u64 b, u64 c, Env e) {
    e.mode &= ~0x30u; // denormals flushed whatever MODE says
    if (f32.zero(flushed(f32, a, e)) || f32.zero(flushed(f32, b, e)))
        return sum(f32, 0, c, e, Rounding(f32, e));
    return fused(f32, a, b, c, e, Rounding(f32, e));
}
u64 lit(u64 a, u64 b, u64 c, const Env &e) { // 2.46
    u64 lowest = f32.sign() | f32.largest();
    bool s1 = b == lowest || b == (f32.sign() | f32.infinity()) || f32.nan(b);
    u64 s2 = flushed(f32, c, e);
    if (s1 || f32.nan(c) || f32.zero(s2) || f32.negative(s2))
        return lowest;
    return product_dx9(a, b, e);
}

// 2.46: the axis whose magnitude is largest; ties pick Z, then Y. Comparisons with NaN are false.
struct Cube {
    u64 x, y, z;
    int axis;
    bool negative;
};
Cube cube(const In &in, const Env &e) {
    Cube c{flushed(f32, in.a, e), flushed(f32, in.b, e), flushed(f32, in.c, e), 0, false};
    auto at_least = [](u64 a, u64 b) {
        return !f32.nan(a) && !f32.nan(b) && f32.magnitude(a) >= f32.magnitude(b);
    };
    c.axis = at_least(c.z, c.x) && at_least(c.z, c.y) ? 2 : at_least(c.y, c.x) ? 1 : 0;
    u64 major = c.axis == 2 ? c.z : c.axis == 1 ? c.y : c.x;
    c.negative = f32.negative(major) && !f32.zero(major) && !f32.nan(major);
    return c;
}
bool any_nan(const In &in) { return f32.nan(in.a) || f32.nan(in.b) || f32.nan(in.c); }

// A copy that goes through the float unit.
u64 passed(u64 x, const Env &e) {
    if (f32.nan(x))
        return quieted(f32, x, e);
    return f32.subnormal(x) && !e.allow_out(f32) ? x & f32.sign() : x;
}

void add_cube(Rows &rows) {
    auto row = [&](const char *name, std::function<u64(const Cube &, const Env &)> f) {
        Row r{name, Form::plain, T::s32, T::s32, T::s32, T::s32, {}};
        r.f = [=](const In &in, const Env &e) {
            Out out(f(cube(in, e), e));
            out.ignore = any_nan(in) ? ~u64{0} : 0; // the result for a NaN is unspecified
            return out;
        };
        add(rows, r);
    };
    constexpr u64 neg = 0x80000000;
    row("v_cubeid_f32", [](const Cube &c, const Env &) {
        constexpr u64 face[] = {0, 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0x40a00000};
        return face[2 * c.axis + c.negative];
    });
    row("v_cubema_f32", [](const Cube &c, const Env &e) {
        return scaled(f32, c.axis == 2 ? c.z : c.axis == 1 ? c.y : c.x, 1, e, Rounding(f32, e));
    });
    row("v_cubesc_f32", [](const Cube &c, const Env &e) {
        u64 v = c.axis == 2   ? (c.negative ? c.x ^ neg : c.x)
                : c.axis == 1 ? c.x
                              : (c.negative ? c.z : c.z ^ neg);
        return passed(v, e);
    });
    row("v_cubetc_f32", [](const Cube &c, const Env &e) {
        u64 v = c.axis == 1 ? (c.negative ? c.z ^ neg : c.z) : c.y ^ neg;
        return passed(v, e);
    });
}

using Binary = std::function<u64(const Format &, u64, u64, const Env &)>;
using Ternary = std::function<u64(const Format &, u64, u64, u64, const Env &)>;

struct Precision {
    T t;
    const char *suffix;
};
constexpr Precision precisions[] = {{T::h16, "_f16"}, {T::s32, "_f32"}, {T::d64, "_f64"}};

void binary(Rows &rows, const char *stem, Binary f, bool gfx11_and_num = false) {
    for (const Precision &p : precisions) {
        Row r{stem + std::string(p.suffix), Form::plain, p.t, p.t, p.t, T::none, {}};
        r.f = [f, p](const In &in, const Env &e) { return Out(f(format_of(p.t), in.a, in.b, e)); };
        add(rows, r);
        if (gfx11_and_num) {
            r.name = std::string(stem) + "_num" + p.suffix;
            add(rows, r);
        }
    }
}

void ternary(Rows &rows, const std::string &stem, Ternary f, bool has_f64,
             Form form = Form::plain) {
    for (const Precision &p : precisions) {
        if (p.t == T::d64 && !has_f64)
            continue;
        Row r{stem + p.suffix, form, p.t, p.t, p.t, p.t, {}};
        r.f = [f, p](const In &in, const Env &e) {
            return Out(f(format_of(p.t), in.a, in.b, in.c, e));
        };
        if (form == Form::fmamk || form == Form::fmaak)
            r.modifiers = r.omod = r.clamp = false;
        add(rows, r);
    }
}

void unary(Rows &rows, const char *stem, std::function<u64(const Format &, u64, const Env &)> f) {
    for (const Precision &p : precisions) {
        Row r{stem + std::string(p.suffix), Form::plain, p.t, p.t, T::none, T::none, {}};
        r.f = [f, p](const In &in, const Env &e) { return Out(f(format_of(p.t), in.a, e)); };
        add(rows, r);
    }
}

// S-071: a product, then a sum, and no subnormals.
u64 mad(const In &in, const Env &e, bool dx9) {
    constexpr u32 f32_subnormals = 3 << 4;
    Env flushing = e;
    flushing.mode &= ~f32_subnormals;
    const Rounding rounding(f32, flushing);
    const u64 p =
        dx9 ? product_dx9(in.a, in.b, flushing) : product(f32, in.a, in.b, flushing, rounding);
    return sum(f32, p, in.c, flushing, rounding);
}

void add_mad(Rows &rows) {
    const auto row = [&](const char *name, Form form, bool dx9) {
        Row r{name, form, T::s32, T::s32, T::s32, T::s32, {}};
        r.f = [=](const In &in, const Env &e) { return Out(mad(in, e, dx9)); };
        if (form == Form::fmamk || form == Form::fmaak)
            r.modifiers = r.omod = r.clamp = false;
        add(rows, r);
    };
    row("v_mad_f32", Form::plain, false);
    row("v_mac_f32", Form::accumulate, false);
    row("v_madmk_f32", Form::fmamk, false);
    row("v_madak_f32", Form::fmaak, false);
    row("v_mad_legacy_f32", Form::plain, true);
    row("v_mac_legacy_f32", Form::accumulate, true);
}

void add_arithmetic(Rows &rows) {
    binary(rows, "v_add", [](const Format &f, u64 a, u64 b, const Env &e) {
        return sum(f, a, b, e, Rounding(f, e));
    });
    binary(rows, "v_sub", [](const Format &f, u64 a, u64 b, const Env &e) {
        return sum(f, a, b ^ f.sign(), e, Rounding(f, e)); // 2.1: a NaN's sign flips, too
    });
    binary(rows, "v_subrev", [](const Format &f, u64 a, u64 b, const Env &e) {
        return sum(f, b, a ^ f.sign(), e, Rounding(f, e));
    });
    binary(rows, "v_mul", [](const Format &f, u64 a, u64 b, const Env &e) {
        return product(f, a, b, e, Rounding(f, e));
    });
    Ternary fma = [](const Format &f, u64 a, u64 b, u64 c, const Env &e) {
        return fused(f, a, b, c, e, Rounding(f, e));
    };
    ternary(rows, "v_fma", fma, true);
    ternary(rows, "v_fmac", fma, false, Form::accumulate);
    ternary(rows, "v_fmamk", fma, false, Form::fmamk);
    ternary(rows, "v_fmaak", fma, false, Form::fmaak);
    for (auto [name, form] : {std::pair{"v_fma_dx9_zero_f32", Form::plain},
                              {"v_fmac_dx9_zero_f32", Form::accumulate}}) {
        Row r{name, form, T::s32, T::s32, T::s32, T::s32, {}};
        r.f = [](const In &in, const Env &e) { return Out(fused_dx9(in.a, in.b, in.c, e)); };
        add(rows, r);
    }
    add_mad(rows);
    Row dx9{"v_mul_dx9_zero_f32", Form::plain, T::s32, T::s32, T::s32, T::none, {}};
    dx9.f = [](const In &in, const Env &e) { return Out(product_dx9(in.a, in.b, e)); };
    add(rows, dx9);
    Row mullit{"v_mullit_f32", Form::plain, T::s32, T::s32, T::s32, T::s32, {}};
    mullit.f = [](const In &in, const Env &e) { return Out(lit(in.a, in.b, in.c, e)); };
    add(rows, mullit);
}

void add_min_max(Rows &rows) {
    auto two = [](auto pick, bool lesser) -> Binary {
        return
            [=](const Format &f, u64 a, u64 b, const Env &e) { return pick(f, a, b, lesser, e); };
    };
    auto nested = [](auto pick, bool first, bool second) -> Ternary { // 2.19
        return [=](const Format &f, u64 a, u64 b, u64 c, const Env &e) {
            return pick(f, pick(f, a, b, first, e), c, second, e);
        };
    };
    binary(rows, "v_min", two(min_max, true), true);
    binary(rows, "v_max", two(min_max, false), true);
    binary(rows, "v_minimum", two(minimum_maximum, true));
    binary(rows, "v_maximum", two(minimum_maximum, false));
    for (std::string num : {"", "_num"}) {
        ternary(rows, "v_min3" + num, nested(min_max, true, true), false);
        ternary(rows, "v_max3" + num, nested(min_max, false, false), false);
        ternary(rows, "v_minmax" + num, nested(min_max, true, false), false);
        ternary(rows, "v_maxmin" + num, nested(min_max, false, true), false);
        ternary(rows, "v_med3" + num, median, false);
    }
    ternary(rows, "v_minimum3", nested(minimum_maximum, true, true), false);
    ternary(rows, "v_maximum3", nested(minimum_maximum, false, false), false);
    ternary(rows, "v_minimummaximum", nested(minimum_maximum, true, false), false);
    ternary(rows, "v_maximumminimum", nested(minimum_maximum, false, true), false);
}

void add_parts(Rows &rows) {
    for (auto [stem, towards] : {std::pair{"v_trunc", MPFR_RNDZ},
                                 {"v_ceil", MPFR_RNDU},
                                 {"v_floor", MPFR_RNDD},
                                 {"v_rndne", MPFR_RNDN}})
        unary(rows, stem, [towards = towards](const Format &f, u64 a, const Env &e) {
            return integral(f, a, e, towards);
        });
    unary(rows, "v_fract", fraction);
    unary(rows, "v_frexp_mant", significand);
    struct {
        const char *ldexp, *frexp_exp;
        T t, power;
    } constexpr sized[] = {{"v_ldexp_f16", "v_frexp_exp_i16_f16", T::h16, T::i16},
                           {"v_ldexp_f32", "v_frexp_exp_i32_f32", T::s32, T::i32},
                           {"v_ldexp_f64", "v_frexp_exp_i32_f64", T::d64, T::i32}};
    for (const auto &s : sized) {
        unsigned width = is_16(s.power) ? 16 : 32;
        Row r{s.ldexp, Form::plain, s.t, s.t, s.power, T::none, {}};
        r.f = [=](const In &in, const Env &e) {
            const Format &f = format_of(s.t);
            return Out(scaled(f, in.a, sign_extended(width, in.b), e, Rounding(f, e)));
        };
        add(rows, r);
        Row x{s.frexp_exp, Form::plain, s.power, s.t, T::none, T::none, {}};
        x.f = [=](const In &in, const Env &e) {
            return Out(low(width, static_cast<u64>(exponent(format_of(s.t), in.a, e))));
        };
        x.omod = x.clamp = false;
        add(rows, x);
    }
}

} // namespace

void add_float_rows(Rows &rows) {
    add_arithmetic(rows);
    add_min_max(rows);
    add_parts(rows);
    add_cube(rows);
}

} // namespace nw::oracle

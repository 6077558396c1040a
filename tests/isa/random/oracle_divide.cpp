// SPDX-License-Identifier: MIT
// Division helpers and v_trig_preop_f64 (2.23 to 2.27, 2.45). S1 is the denominator, S2 the
// numerator.
#include "isa/random/oracle_float.h"

namespace nw::oracle {

namespace {

Out div_scale(const Format &f, const In &in, const Env &e) {
    const bool wide = f == f64;
    const int threshold = wide ? 768 : 96, power = wide ? 128 : 64, small = wide ? 53 : 24;
    u64 s0 = flushed(f, in.a, e), den = flushed(f, in.b, e), num = flushed(f, in.c, e);
    int ed = static_cast<int>(f.raw_exponent(den)), en = static_cast<int>(f.raw_exponent(num));
    int distance = en - ed;
    bool vcc = distance >= threshold || distance <= -threshold;
    u64 nan = e.gfx12 ? s0 | f.quiet() : s0; // 2.24
    auto times = [&](int p) { return f.nan(s0) ? nan : scaled(f, s0, p, e, Rounding(f, e)); };
    u64 as_is = f.nan(s0) ? nan : s0;
    if (f.zero(den) || f.zero(num)) // positive for f64 on gfx12 in the published cases
        return {f.default_nan() & (wide && e.gfx12 ? ~f.sign() : ~u64{0}), vcc};
    if (distance >= threshold)
        return {s0 == den ? times(power) : as_is, vcc};
    if (ed == 0)
        return {times(power), vcc};
    if (ed >= 2 * f.bias() - 1)
        return {vcc && s0 != den ? as_is : times(-power), vcc};
    if (distance <= -threshold)
        return {s0 == den ? as_is : times(power), vcc};
    return {en <= small ? times(power) : as_is, vcc};
}

u64 div_fmas(const Format &f, const In &in, Env e) { // 2.25
    e.mode |= 0x50;                                  // inputs are never flushed
    Rounding r(f, e);
    if (!in.flag)
        return fused(f, in.a, in.b, in.c, e, r);
    if ((f.zero(in.a) && f.inf(in.b)) || (f.inf(in.a) && f.zero(in.b)))
        return f.default_nan();
    if (auto nan = first_nan(f, {in.a, in.b, in.c}, e))
        return *nan;
    int unit = f == f64 ? 128 : 64;
    int power = static_cast<int>(f.raw_exponent(in.c)) > f.bias() ? unit : -unit;
    Real a(f, in.a), b(f, in.b), c(f, in.c);
    mpfr_mul_2si(a, a, power, MPFR_RNDN); // scales the product, without rounding
    mpfr_mul_2si(c, c, power, MPFR_RNDN);
    return rounded(f, r, [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_fma(d, a, b, c, rnd); });
}

// A value beyond the format's range, as MODE rounds it.
u64 extreme(const Format &f, bool negative, bool tiny, Round r) {
    u64 sign = negative ? f.sign() : 0;
    bool away = r == (negative ? down : up);
    if (tiny)
        return sign | (away ? 1 : 0);
    return sign | (away || r == nearest ? f.infinity() : f.largest());
}

u64 div_fixup(const Format &f, const In &in, const Env &e) { // 2.26, 2.27
    u64 den = flushed(f, in.b, e), num = flushed(f, in.c, e);
    bool negative = f.negative(den) != f.negative(num);
    u64 sign = negative ? f.sign() : 0;
    if (f.nan(num))
        return quieted(f, num, e);
    if (f.nan(den))
        return quieted(f, den, e);
    if ((f.zero(num) && f.zero(den)) || (f.inf(num) && f.inf(den)))
        return f.default_nan();
    if (f.zero(den) || f.inf(num))
        return sign | f.infinity();
    if (f.inf(den) || f.zero(num))
        return sign;
    if (f != f16) {
        int distance =
            static_cast<int>(f.raw_exponent(num)) - static_cast<int>(f.raw_exponent(den));
        if (distance < (f == f64 ? -1075 : -150))
            return extreme(f, negative, true, e.round(f));
        if (f.nan(in.a) || f.inf(in.a))
            return extreme(f, negative, false, e.round(f));
    }
    return sign | f.magnitude(in.a);
}

// `count` bits of 2/pi, from `first_bit` after the binary point on.
u64 two_over_pi(int first_bit, int count) {
    static Real digits;
    static bool ready = false;
    if (!ready) {
        mpfr_set_prec(digits, 1201); // the hardware's precision; the first digit is 1
        Real pi;
        mpfr_set_prec(pi, 1400);
        mpfr_const_pi(pi, MPFR_RNDN);
        mpfr_ui_div(digits, 2, pi, MPFR_RNDZ);
        ready = true;
    }
    Real x;
    mpfr_set_prec(x, 1300);
    mpfr_mul_2si(x, digits, first_bit, MPFR_RNDN);
    mpfr_frac(x, x, MPFR_RNDZ);
    mpfr_mul_2si(x, x, count, MPFR_RNDN);
    return mpfr_get_uj(x, MPFR_RNDZ);
}

// 2.45
u64 trig_preop(const In &in, const Env &e) {
    u64 a = flushed(f64, in.a, e);
    int exponent = static_cast<int>(f64.raw_exponent(a));
    int shift = 53 * static_cast<int>(in.b & 31) + (exponent > 1077 ? exponent - 1077 : 0);
    u64 segment = two_over_pi(shift, 53);
    int power = -53 - shift + (exponent >= 1968 ? 128 : 0);
    return rounded(f64, Rounding(f64, e), [&](mpfr_ptr d, mpfr_rnd_t rnd) {
        return mpfr_set_uj_2exp(d, segment, power, rnd);
    });
}

} // namespace

void add_divide_rows(Rows &rows) {
    for (T t : {T::s32, T::d64}) {
        const Format &f = format_of(t);
        std::string suffix = t == T::s32 ? "_f32" : "_f64";
        Row scale{"v_div_scale" + suffix, Form::carry_mad, t, t, t, t, {}};
        scale.f = [&f](const In &in, const Env &e) { return div_scale(f, in, e); };
        scale.omod = scale.clamp = scale.modifiers = false;
        add(rows, scale);
        Row fmas{"v_div_fmas" + suffix, Form::plain, t, t, t, t, {}};
        fmas.f = [&f](const In &in, const Env &e) { return Out(div_fmas(f, in, e)); };
        fmas.omod = fmas.clamp = false;
        add(rows, fmas);
    }
    for (T t : {T::h16, T::s32, T::d64}) {
        const Format &f = format_of(t);
        Row fixup{std::string("v_div_fixup") + (t == T::h16   ? "_f16"
                                                : t == T::s32 ? "_f32"
                                                              : "_f64"),
                  Form::plain,
                  t,
                  t,
                  t,
                  t,
                  {}};
        fixup.f = [&f](const In &in, const Env &e) {
            Out out(div_fixup(f, in, e));
            if (f == f16 && f.nan(in.a)) // division never makes one there, and no source tells
                out.ignore = ~u64{0};
            return out;
        };
        add(rows, fixup);
    }
    Row preop{"v_trig_preop_f64", Form::plain, T::d64, T::d64, T::u32, T::none, {}};
    preop.f = [](const In &in, const Env &e) { return Out(trig_preop(in, e)); };
    add(rows, preop);
}

} // namespace nw::oracle

// SPDX-License-Identifier: MIT
#include "isa/random/soft.h"

#include <bit>
#include <cmath>

namespace nw::oracle {

void Real::set(const Format &f, u64 x) {
    u64 magnitude = f.magnitude(x);
    if (f.inf(x)) {
        mpfr_set_inf(x_, f.negative(x) ? -1 : 1);
        return;
    }
    u64 fraction = magnitude & (f.smallest_normal() - 1);
    unsigned raw = f.raw_exponent(x);
    if (raw)
        fraction |= f.smallest_normal();
    int exponent = static_cast<int>(raw ? raw : 1) - f.bias() - static_cast<int>(f.mantissa);
    mpfr_set_ui_2exp(x_, fraction, exponent, MPFR_RNDN); // at most 53 bits: exact
    if (f.negative(x))
        mpfr_neg(x_, x_, MPFR_RNDN); // the sign of a zero, too
}

mpfr_rnd_t host_round(Round r) {
    constexpr mpfr_rnd_t names[] = {MPFR_RNDN, MPFR_RNDU, MPFR_RNDD, MPFR_RNDZ};
    return names[r];
}

u64 flushed(const Format &f, u64 x, const Env &e) {
    return f.subnormal(x) && !e.allow_in(f) ? x & f.sign() : x;
}

u64 quieted(const Format &f, u64 nan, const Env &e) { return e.ieee() ? nan | f.quiet() : nan; }

std::optional<u64> first_nan(const Format &f, std::initializer_list<u64> operands, const Env &e) {
    for (u64 x : operands)
        if (f.nan(x))
            return quieted(f, x, e);
    return std::nullopt;
}

namespace {

// MPFR's exponents: a mantissa in [1/2, 1).
long least_exponent(const Format &f) { return 2 - f.bias() - static_cast<long>(f.mantissa); }
long least_normal_exponent(const Format &f) { return 2 - f.bias(); }
long greatest_exponent(const Format &f) { return f.bias() + 1; }

// A number that the format holds.
u64 encode(const Format &f, mpfr_srcptr x) {
    u64 sign = mpfr_signbit(x) ? f.sign() : 0;
    if (mpfr_inf_p(x))
        return sign | f.infinity();
    if (mpfr_zero_p(x))
        return sign;
    double v = std::fabs(mpfr_get_d(x, MPFR_RNDN)); // exact
    int exponent;
    double mantissa = std::frexp(v, &exponent); // [1/2, 1)
    if (exponent < least_normal_exponent(f))
        return sign | static_cast<u64>(std::ldexp(v, f.bias() - 1 + static_cast<int>(f.mantissa)));
    u64 fraction = static_cast<u64>(std::ldexp(mantissa, static_cast<int>(f.mantissa) + 1));
    return sign + (static_cast<u64>(exponent - 2 + f.bias()) << f.mantissa) + fraction;
}

} // namespace

u64 finish(const Format &f, mpfr_ptr x, int ternary, const Rounding &r) {
    if (mpfr_nan_p(x))
        return f.default_nan();
    u64 sign = mpfr_signbit(x) ? f.sign() : 0;
    if (mpfr_inf_p(x))
        return sign | f.infinity();
    if (mpfr_zero_p(x))
        return sign;
    if (!r.keep_subnormals && mpfr_get_exp(x) < least_normal_exponent(f))
        return sign;
    if (r.saturate && mpfr_get_exp(x) > greatest_exponent(f))
        return sign | f.largest();
    mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
    mpfr_set_emin(least_exponent(f));
    mpfr_set_emax(greatest_exponent(f));
    ternary = mpfr_check_range(x, ternary, host_round(r.round));
    mpfr_subnormalize(x, ternary, host_round(r.round));
    mpfr_set_emin(low);
    mpfr_set_emax(high);
    return encode(f, x);
}

u64 converted(const Format &to, const Format &from, u64 x, const Rounding &r, bool quiet) {
    if (from.nan(x)) {
        u64 payload = x & (from.smallest_normal() - 1);
        int shift = static_cast<int>(from.mantissa) - static_cast<int>(to.mantissa);
        payload = shift > 0 ? payload >> shift : payload << -shift;
        u64 sign = from.negative(x) ? to.sign() : 0;
        return sign | to.infinity() | payload | (quiet ? to.quiet() : 0);
    }
    Real v(from, x);
    return rounded(to, r, [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_set(d, v, rnd); });
}

u64 omod(const Format &f, u64 x, int power, const Env &e) {
    if (!e.gfx12 && (e.ieee() || e.allow_out(f)))
        return x; // 2.9
    if (f.nan(x) || f.inf(x))
        return x;
    if (f.zero(x) || f.subnormal(x))
        return 0;
    Real v(f, x);
    Rounding r(f, e);
    r.keep_subnormals = false;
    return rounded(f, r,
                   [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_mul_2si(d, v, power, rnd); });
}

u64 clamped(const Format &f, u64 x, const Env &e) {
    if (f.nan(x))
        return e.dx10_clamp() ? 0 : x;
    if (f.negative(x))
        return 0;
    return f.magnitude(x) > f.one() ? f.one() : x;
}

} // namespace nw::oracle

// SPDX-License-Identifier: MIT
// Conversions (2.39 to 2.43) and mixed f16/f32 arithmetic (2.48).
#include <algorithm>

#include "isa/random/oracle_float.h"

namespace nw::oracle {

namespace {

Row row_of(const char *name, T d, T a, T b, T c, std::function<u64(const In &, const Env &)> f) {
    Row r{name, Form::plain, d, a, b, c, {}};
    r.f = [f](const In &in, const Env &e) { return Out(f(in, e)); };
    if (!is_float(d))
        r.omod = r.clamp = false;
    r.modifiers = is_float(a) || is_float(b);
    return r;
}

using Unary = std::function<u64(u64, const Env &)>;
void unary(Rows &rows, const char *name, T d, T a, Unary f) {
    add(rows, row_of(name, d, a, T::none, T::none,
                     [f](const In &in, const Env &e) { return f(in.a, e); }));
}

i128 limited(i128 v, i128 low, i128 high) { return std::clamp(v, low, high); }

// The integer that x rounds to, as GMP sees it; saturated far outside every integer type.
i128 to_integer(const Format &f, u64 x, mpfr_rnd_t towards) {
    if (f.inf(x))
        return f.negative(x) ? -(i128{1} << 100) : i128{1} << 100;
    Real v(f, x), whole;
    mpfr_rint(whole, v, towards);
    if (mpfr_get_exp(whole) > 62 && !mpfr_zero_p(whole))
        return f.negative(x) ? -(i128{1} << 100) : i128{1} << 100;
    return mpfr_get_sj(whole, MPFR_RNDZ);
}

// 2.39: truncate, saturate, NaN is 0.
u64 to_limits(const Format &f, u64 x, const Env &e, i128 low, i128 high) {
    if (f.nan(x))
        return 0;
    i128 v = to_integer(f, flushed(f, x, e), MPFR_RNDZ);
    return static_cast<u64>(limited(v, low, high));
}
constexpr i128 i32_min = -(i128{1} << 31), i32_max = (i128{1} << 31) - 1, u32_max = 0xffffffff;

u64 from_integer(const Format &f, i64 v, const Env &e) {
    return rounded(f, Rounding(f, e),
                   [&](mpfr_ptr d, mpfr_rnd_t rnd) { return mpfr_set_sj(d, v, rnd); });
}

// 2.39, last sentence.
u64 to_i32_by_sign(u64 x, bool half_up, const Env &e) {
    if (f32.nan(x))
        return f32.negative(x) ? 0x80000000 : 0x7fffffff;
    x = flushed(f32, x, e);
    if (f32.inf(x))
        return f32.negative(x) ? 0x80000000 : 0x7fffffff;
    Real v(f32, x), half;
    mpfr_set_prec(v, 300); // x + 1/2 exactly
    v.set(f32, x);
    if (half_up)
        mpfr_add_d(v, v, 0.5, MPFR_RNDN);
    mpfr_rint_floor(v, v, MPFR_RNDN);
    if (!mpfr_zero_p(v) && mpfr_get_exp(v) > 40)
        return f32.negative(x) ? 0x80000000 : 0x7fffffff;
    return low(32, static_cast<u64>(limited(mpfr_get_sj(v, MPFR_RNDZ), i32_min, i32_max)));
}

// 2.41: times the type's largest value, to nearest even; NaN is 0.
u64 normalised(const Format &f, u64 x, const Env &e, bool is_signed) {
    if (f.nan(x))
        return 0;
    x = flushed(f, x, e);
    i128 scale = is_signed ? 32767 : 65535, least = is_signed ? -32767 : 0;
    if (f.inf(x))
        return low(16, static_cast<u64>(f.negative(x) ? least : scale));
    Real v(f, x);
    mpfr_mul_ui(v, v, static_cast<unsigned long>(scale), MPFR_RNDN); // exact in 128 bits
    mpfr_rint(v, v, MPFR_RNDN);
    if (!mpfr_zero_p(v) && mpfr_get_exp(v) > 40)
        return low(16, static_cast<u64>(f.negative(x) ? least : scale));
    return low(16, static_cast<u64>(limited(mpfr_get_sj(v, MPFR_RNDZ), least, scale)));
}

u64 pair(u64 low_half, u64 high_half) { return low(16, low_half) | low(16, high_half) << 16; }

void add_between_floats(Rows &rows) {
    unary(rows, "v_cvt_f16_f32", T::h16, T::s32, [](u64 a, const Env &e) {
        return converted(f16, f32, flushed(f32, a, e), Rounding(f16, e)); // 2.40
    });
    unary(rows, "v_cvt_f32_f16", T::s32, T::h16, [](u64 a, const Env &e) {
        return converted(f32, f16, flushed(f16, a, e), Rounding(f32, e), e.ieee());
    });
    unary(rows, "v_cvt_f64_f32", T::d64, T::s32, [](u64 a, const Env &e) {
        return converted(f64, f32, flushed(f32, a, e), Rounding(f64, e), e.ieee());
    });
    unary(rows, "v_cvt_f32_f64", T::s32, T::d64, [](u64 a, const Env &e) {
        return converted(f32, f64, flushed(f64, a, e), Rounding(f32, e));
    });
    Row rtz = row_of("v_cvt_pk_rtz_f16_f32", T::u32, T::s32, T::s32, T::none,
                     [](const In &in, const Env &) { // 2.7: MODE counts for nothing
                         Rounding r(to_zero, true);
                         return pair(converted(f16, f32, in.a, r), converted(f16, f32, in.b, r));
                     });
    add(rows, rtz);
}

void add_integers(Rows &rows) {
    for (auto [suffix, d] : {std::pair{"f32", T::s32}, {"f64", T::d64}}) {
        std::string stem = std::string("v_cvt_") + suffix;
        const Format &f = format_of(d);
        unary(rows, (stem + "_u32").c_str(), d, T::u32, [&f](u64 a, const Env &e) {
            return from_integer(f, static_cast<i64>(low(32, a)), e);
        });
        unary(rows, (stem + "_i32").c_str(), d, T::i32,
              [&f](u64 a, const Env &e) { return from_integer(f, sign_extended(32, a), e); });
        std::string from = std::string("_") + suffix;
        unary(rows, ("v_cvt_u32" + from).c_str(), T::u32, d,
              [&f](u64 a, const Env &e) { return to_limits(f, a, e, 0, u32_max); });
        unary(rows, ("v_cvt_i32" + from).c_str(), T::i32, d,
              [&f](u64 a, const Env &e) { return low(32, to_limits(f, a, e, i32_min, i32_max)); });
    }
    unary(rows, "v_cvt_f16_u16", T::h16, T::u16,
          [](u64 a, const Env &e) { return from_integer(f16, static_cast<i64>(low(16, a)), e); });
    unary(rows, "v_cvt_f16_i16", T::h16, T::i16,
          [](u64 a, const Env &e) { return from_integer(f16, sign_extended(16, a), e); });
    unary(rows, "v_cvt_u16_f16", T::u16, T::h16,
          [](u64 a, const Env &e) { return to_limits(f16, a, e, 0, 0xffff); });
    unary(rows, "v_cvt_i16_f16", T::i16, T::h16,
          [](u64 a, const Env &e) { return low(16, to_limits(f16, a, e, -0x8000, 0x7fff)); });
    unary(rows, "v_cvt_nearest_i32_f32", T::i32, T::s32,
          [](u64 a, const Env &e) { return to_i32_by_sign(a, true, e); });
    unary(rows, "v_cvt_floor_i32_f32", T::i32, T::s32,
          [](u64 a, const Env &e) { return to_i32_by_sign(a, false, e); });
    for (unsigned n = 0; n < 4; ++n)
        unary(rows, ("v_cvt_f32_ubyte" + std::to_string(n)).c_str(), T::s32, T::u32,
              [n](u64 a, const Env &e) {
                  return from_integer(f32, static_cast<i64>(a >> 8 * n & 255), e);
              });
    unary(rows, "v_cvt_off_f32_i4", T::s32, T::u32, [](u64 a, const Env &e) {
        i64 v = sign_extended(4, a);
        return rounded(f32, Rounding(f32, e),
                       [&](mpfr_ptr d, mpfr_rnd_t r) { return mpfr_set_sj_2exp(d, v, -4, r); });
    });
    unary(rows, "v_cvt_u32_u16", T::u32, T::u16, [](u64 a, const Env &) { return low(16, a); });
    unary(rows, "v_cvt_i32_i16", T::i32, T::i16,
          [](u64 a, const Env &) { return low(32, static_cast<u64>(sign_extended(16, a))); });
}

void add_packing(Rows &rows) {
    add(rows,
        row_of("v_cvt_pk_u16_u32", T::u32, T::u32, T::u32, T::none, [](const In &in, const Env &) {
            return pair(std::min<u64>(low(32, in.a), 0xffff), std::min<u64>(low(32, in.b), 0xffff));
        }));
    add(rows,
        row_of("v_cvt_pk_i16_i32", T::u32, T::i32, T::i32, T::none, [](const In &in, const Env &) {
            auto half = [](u64 x) {
                return static_cast<u64>(std::clamp<i64>(sign_extended(32, x), -0x8000, 0x7fff));
            };
            return pair(half(in.a), half(in.b));
        }));
    add(rows,
        row_of("v_cvt_pk_u16_f32", T::u32, T::s32, T::s32, T::none, [](const In &in, const Env &e) {
            return pair(to_limits(f32, in.a, e, 0, 0xffff), to_limits(f32, in.b, e, 0, 0xffff));
        }));
    add(rows,
        row_of("v_cvt_pk_i16_f32", T::u32, T::s32, T::s32, T::none, [](const In &in, const Env &e) {
            return pair(to_limits(f32, in.a, e, -0x8000, 0x7fff),
                        to_limits(f32, in.b, e, -0x8000, 0x7fff));
        }));
    for (bool is_signed : {false, true}) {
        std::string kind = is_signed ? "norm_i16" : "norm_u16";
        unary(rows, ("v_cvt_" + kind + "_f16").c_str(), T::u16, T::h16,
              [=](u64 a, const Env &e) { return normalised(f16, a, e, is_signed); });
        for (T t : {T::s32, T::h16})
            add(rows, row_of(("v_cvt_pk_" + kind + (t == T::s32 ? "_f32" : "_f16")).c_str(), T::u32,
                             t, t, T::none, [=](const In &in, const Env &e) {
                                 const Format &f = format_of(t);
                                 return pair(normalised(f, in.a, e, is_signed),
                                             normalised(f, in.b, e, is_signed));
                             }));
    }
    // 2.42: rounding is open; truncation is the simulator's stated default.
    add(rows,
        row_of("v_cvt_pk_u8_f32", T::u32, T::s32, T::u32, T::u32, [](const In &in, const Env &e) {
            u64 value = to_limits(f32, in.a, e, 0, 255), at = 8 * (in.b & 3);
            return low(32, (in.c & ~(u64{255} << at)) | value << at);
        }));
}

// 2.48: each source at its own type's field, one rounding to the result's type.
u64 mixed(const Format &to, const In &in, const Env &e) {
    return fused(f32, in.a, in.b, in.c, e, Rounding(to, e));
}

void add_mixed(Rows &rows) {
    for (const char *name : {"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"}) {
        bool narrow = std::string(name) != "v_fma_mix_f32";
        Row r{name, Form::mixed, narrow ? T::h16 : T::s32, T::mix, T::mix, T::mix, {}};
        r.f = [narrow](const In &in, const Env &caller) {
            Env e = caller;
            e.mode |= 0x10; // sources are flushed where they are widened
            if (!narrow)
                return Out(mixed(f32, in, e));
            // A NaN or an invalid operation as f32 first; numbers round once.
            auto invalid = [](u64 x, u64 y) { return f32.zero(x) && f32.inf(y); };
            if (invalid(in.a, in.b) || invalid(in.b, in.a))
                return Out(f16.default_nan());
            if (auto nan = first_nan(f32, {in.a, in.b, in.c}, e))
                return Out(converted(f16, f32, *nan, Rounding(f16, e)));
            Real x(f32, in.a), y(f32, in.b), z(f32, in.c);
            return Out(rounded(f16, Rounding(f16, e), [&](mpfr_ptr d, mpfr_rnd_t rnd) {
                return mpfr_fma(d, x, y, z, rnd);
            }));
        };
        r.omod = false;
        add(rows, r);
    }
}

} // namespace

void add_convert_rows(Rows &rows) {
    add_between_floats(rows);
    add_integers(rows);
    add_packing(rows);
    add_mixed(rows);
}

} // namespace nw::oracle

// SPDX-License-Identifier: MIT
// Transcendentals of f64 and f16. Compiled once per host level.
#include "sim/func/alu/trans.h"

#include "sim/func/alu/lanes.h"

namespace nw::sim::NW_LEVEL::trans {

namespace {

constexpr u64 sign64 = u64{1} << 63, infinity64 = u64{0x7ff} << 52, quiet64 = u64{1} << 51;
constexpr u64 fraction64 = (u64{1} << 52) - 1;

// fraction * 2^(exponent - 52) with its implicit bit; exact, below the normal range too.
u64 encode(int exponent, u64 fraction) {
    if (exponent > 1023)
        return infinity64;
    if (exponent >= -1022)
        return static_cast<u64>(exponent + 1023) << 52 | fraction;
    return ((u64{1} << 52) | fraction) >> (-1022 - exponent);
}
u64 above_power(int exponent) {
    return exponent >= -1022 ? encode(exponent, 1) : encode(exponent, 0) + 1;
}
u64 below_power(int exponent) { return exponent > 1023 ? infinity64 : encode(exponent, 0) - 1; }

// A positive finite number: 1.fraction * 2^exponent.
struct Normalized {
    int exponent;
    u64 fraction;
    u32 parity() const { return static_cast<u32>(exponent & 1); }
    int half() const { return (exponent - (exponent & 1)) / 2; }
};

Normalized normalize(u64 magnitude) {
    int exponent = static_cast<int>(magnitude >> 52) - 1023;
    u64 fraction = magnitude & fraction64;
    if (exponent != -1023)
        return {exponent, fraction};
    int shift = __builtin_clzll(fraction) - 11;
    return {-1022 - shift, fraction << shift & fraction64};
}

// The unit reads 29 (sqrt: 28) bits. Lower bits only matter at the ends of the range.
u64 rcp_magnitude(Normalized x) {
    auto m = static_cast<u32>(x.fraction >> 23);
    if (x.fraction == 0)
        return encode(-x.exponent, 0);
    if (x.fraction == fraction64)
        return above_power(-x.exponent - 1);
    if (m == 0)
        return below_power(-x.exponent);
    return encode(-x.exponent - 1, (rcp_cubic<Width::f64>(m) - (u64{1} << 34)) << 18);
}
u64 rsq_magnitude(Normalized x) {
    auto m = static_cast<u32>(x.fraction >> 23);
    if (x.parity() == 0 && x.fraction == 0)
        return encode(-x.half(), 0);
    if (x.parity() == 0 && m == 0)
        return below_power(-x.half());
    return encode(-x.half() - 1, (rsq_cubic<Width::f64>(x.parity(), m) - (u64{1} << 35)) << 17);
}
u64 sqrt_magnitude(Normalized x) {
    auto m = static_cast<u32>(x.fraction >> 24);
    return encode(x.half(), (sqrt_cubic<Width::f64>(x.parity(), m) - (u64{1} << 35)) << 17);
}

u64 flushed(u64 x, bool keep) { return keep || x >> 52 & 0x7ff ? x : x & sign64; }
// S-047: results rounded by the host where the published model is doubtful.
bool precise() { return choices().trans_f64 == choice::trans_f64::precise; }
bool keeps_in(const Mode &m) { return m.keep16 == 0xffff; }
u64 quiet(u64 nan, const Mode &m) { return nan | m.quiet64; }

} // namespace

f64 rcp(f64 value, const Mode &m) {
    u64 x = flushed(fp::bits(value), keeps_in(m)), sign = x & sign64, magnitude = x & ~sign64;
    if (magnitude > infinity64)
        return fp::f64_of(quiet(x, m));
    if (magnitude == 0)
        return fp::f64_of(sign | infinity64);
    if (magnitude == infinity64)
        return fp::f64_of(sign);
    u64 r = precise() ? fp::bits(1.0 / fp::f64_of(magnitude)) : rcp_magnitude(normalize(magnitude));
    return fp::f64_of(flushed(sign | r, !m.flush16_out));
}

f64 rsq(f64 value, const Mode &m) {
    u64 x = flushed(fp::bits(value), keeps_in(m)), sign = x & sign64, magnitude = x & ~sign64;
    if (magnitude > infinity64)
        return fp::f64_of(quiet(x, m));
    if (magnitude == 0)
        return fp::f64_of(sign | infinity64);
    if (sign)
        return fp::f64_of(fp::default_nan64);
    if (precise())
        return 1.0 / __builtin_sqrt(value);
    return fp::f64_of(magnitude == infinity64 ? 0 : rsq_magnitude(normalize(magnitude)));
}

f64 sqrt(f64 value, const Mode &m) {
    u64 x = flushed(fp::bits(value), keeps_in(m)), magnitude = x & ~sign64;
    if (magnitude > infinity64)
        return fp::f64_of(quiet(x, m));
    if (magnitude == 0)
        return fp::f64_of(x);
    if (x & sign64)
        return fp::f64_of(fp::default_nan64);
    if (precise())
        return __builtin_sqrt(value);
    return fp::f64_of(magnitude == infinity64 ? x : sqrt_magnitude(normalize(magnitude)));
}

// ---- f16
// -----------------------------------------------------------------------------------------

namespace {

// 2^x of an f16: rounded once, from the unit's 36 fraction bits, or twice (S-012).
u32 exp_half(u32 h, const Mode &m) {
    u32 x = fp::bits(fp::widen16(h)), magnitude = x & 0x7fffffff;
    bool twice = choices().exp_f16 == choice::exp_f16::twice;
    if (magnitude >= 0x43000000 || magnitude < 0x33800000 || twice)
        return fp::narrow16_nearest(fp::f32_of(exp(x, m)));
    WideExp w = wide_exp(x);
    Mode nearest;
    f64 value = static_cast<f64>(w.significand); // below 2^53: exact
    return fp::narrow16(value * fp::power_of_two(w.exponent - 36), nearest);
}

template <u32 (*F)(u32, const Mode &)> u32 through_f32(u32 h, const Mode &m) {
    return fp::narrow16_nearest(fp::f32_of(F(fp::bits(fp::widen16(h)), m)));
}

// The rest of S-012: subnormals by MODE, FP16_OVFL, NaNs.
template <class F> inline void half_row(u32 *d, const u32 *a, u32 exec, const Mode &mode, F f) {
    const Mode m = mode;
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 h = a[l] & 0xffff;
        h = h & 0x7c00 ? h : h & m.keep16;
        u32 r = f(h, m);
        r = m.flush16_out && !(r & 0x7c00) ? r & 0x8000 : r;
        bool made_infinite = (r & 0x7fff) == 0x7c00 && (h & 0x7fff) != 0x7c00;
        r = m.fp16_ovfl && made_infinite ? (r & 0x8000) | 0x7bff : r;
        r = fp::is_nan16(h) ? h | m.quiet32 >> 13 : r;
        d[l] = exec >> l & 1 ? (d[l] & 0xffff0000) | r : d[l];
    }
}

} // namespace

#define HALF_ROW(name, ...)                                                                        \
    void name(u32 *d, const u32 *a, const u32 *, const u32 *, u32 exec, const Mode &m) {           \
        half_row(d, a, exec, m, [](u32 h, const Mode &mode) { return __VA_ARGS__(h, mode); });     \
    }
HALF_ROW(rcp_f16, through_f32<rcp>)
HALF_ROW(rsq_f16, through_f32<rsq>)
HALF_ROW(sqrt_f16, through_f32<sqrt>)
HALF_ROW(log_f16, through_f32<log>)
HALF_ROW(sin_f16, through_f32<sin>)
HALF_ROW(cos_f16, through_f32<cos>)
HALF_ROW(exp_f16, exp_half)
#undef HALF_ROW

} // namespace nw::sim::NW_LEVEL::trans

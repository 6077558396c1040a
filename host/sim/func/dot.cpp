// SPDX-License-Identifier: MIT
#include "sim/func/dot.h"

namespace nw::sim::NW_LEVEL::dot {

namespace {

template <class F> bool is_nan(u32 h) {
    return is_special<F>(h) && (h & ((1u << F::mantissa_bits) - 1));
}
template <class F> bool is_zero(u32 h, bool gfx12) { return factor<F>(h, gfx12).mantissa == 0; }

struct Specials {
    bool nan_factor = false, invalid = false, plus_inf = false, minus_inf = false;
};

template <class F> void look_at(u32 x, u32 y, bool gfx12, Specials &s) {
    s.nan_factor |= is_nan<F>(x) || is_nan<F>(y);
    if (!is_special<F>(x) && !is_special<F>(y))
        return;
    s.invalid |= is_zero<F>(x, gfx12) || is_zero<F>(y, gfx12); // 0 * inf
    ((x ^ y) >> 15 & 1 ? s.minus_inf : s.plus_inf) = true;
}

// C as f32 bits: exact for f16 and bf16.
u32 widen(u32 c, Out out) {
    return out == Out::f32 ? c : out == Out::bf16 ? c << 16 : fp::bits(fp::widen16(c));
}

// One rounding of sum * 2^grid, to nearest even.
u32 narrow(Sum s, Out out, const Mode &m) {
    f64 value = static_cast<f64>(with_sign(s.sum, s.sign)) * fp::power_of_two(s.grid);
    if (out == Out::f16) {
        Mode nearest;
        nearest.fp16_ovfl = m.fp16_ovfl;
        return fp::narrow16(value, nearest);
    }
    u32 r = to_f32(s);
    if (m.gfx12 && is_subnormal(s)) {
        MxcsrScope scope(mxcsr_default);
        volatile f64 inside = value; // or the compiler converts outside the scope
        r = fp::bits(static_cast<f32>(inside));
    }
    return out == Out::bf16 ? r >> 16 : r; // 2.51: bf16 results are cut, not rounded
}

} // namespace

template <class F>
u32 exact(const u32 *a, const u32 *b, unsigned words, u32 c, Out out, const Mode &m) {
    u32 c32 = widen(c, out);
    Specials s;
    for (unsigned n = 0; n < words; ++n) {
        look_at<F>(a[n] & 0xffff, b[n] & 0xffff, m.gfx12, s);
        look_at<F>(a[n] >> 16, b[n] >> 16, m.gfx12, s);
    }
    bool nan_c = (c32 & 0x7fffffff) > 0x7f800000;
    if ((c32 & 0x7fffffff) == 0x7f800000)
        (c32 >> 31 ? s.minus_inf : s.plus_inf) = true;
    auto word = [&](u32 f32_word, u32 f16_word, u32 bf16_word) {
        return out == Out::f32 ? f32_word : out == Out::f16 ? f16_word : bf16_word;
    };
    if (s.nan_factor)
        return word(0xffc00a3d, 0xfe3d, 0xfffd);
    if (s.invalid || (s.plus_inf && s.minus_inf))
        return word(0xffc00000, 0xfe00, 0xffc0);
    if (nan_c)
        return word(c | 0x00400000, c | 0x0200, c | 0x0040);
    if (s.plus_inf || s.minus_inf)
        return word(0x7f800000, 0x7c00, 0x7f80) |
               (s.minus_inf ? word(0x80000000, 0x8000, 0x8000) : 0);

    Addend addend = addend32(c32, m.gfx12);
    if (out == Out::f16 && addend.lead > nothing && addend.lead < -14) {
        // 2.51: an f16 C counts as at least 2^-14. Its bits move down with the lead.
        addend.magnitude = shift_down(addend.magnitude, -14 - addend.lead);
        addend.lead = -14;
    }
    auto low = [&](unsigned n) { return product<F>(a[n] & 0xffff, b[n] & 0xffff, m.gfx12); };
    auto high = [&](unsigned n) { return product<F>(a[n] >> 16, b[n] >> 16, m.gfx12); };
    Sum sum = !m.gfx12 ? add_gfx11(low(0), high(0), addend)
              : words == 1
                  ? add_gfx12(pair_gfx12(low(0), high(0)), addend)
                  : add_gfx12(pair_gfx12(low(0), high(0)), pair_gfx12(low(1), high(1)), addend);
    if (sum.sum == 0)
        return 0;
    return narrow(sum, out, m);
}

template u32 exact<F16>(const u32 *, const u32 *, unsigned, u32, Out, const Mode &);
template u32 exact<BF16>(const u32 *, const u32 *, unsigned, u32, Out, const Mode &);

} // namespace nw::sim::NW_LEVEL::dot

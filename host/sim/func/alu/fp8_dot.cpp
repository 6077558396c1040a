// SPDX-License-Identifier: MIT
#include "sim/func/alu/fp8_dot.h"

namespace nw::sim::NW_LEVEL::fp8 {

namespace {

constexpr unsigned per_word = 4;
constexpr u32 factor_nan = 0xffc00a3d; // of v_dot4_f32_*, as of DOT2 (2.49)

struct Factor {
    i32 mantissa, exponent; // mantissa * 2^(exponent - fraction_bits)
};
template <class F> Factor factor(u32 byte) {
    const u32 fraction = byte & ((1u << F::fraction_bits) - 1);
    const u32 field = (byte & 0x7f) >> F::fraction_bits;
    return {static_cast<i32>(field ? fraction | 1u << F::fraction_bits : fraction),
            static_cast<i32>(field ? field : 1) - static_cast<i32>(F::bias)};
}

u32 code(const u32 *words, unsigned k) { return words[k / per_word] >> 8 * (k % per_word) & 255; }

// ---- NaN and infinity ---------------------------------------------------------------------------

constexpr u32 infinity = 0x7f800000, sign_bit = 0x80000000;

// If a NaN or infinity decides the sum, returns true and sets `result`.
template <class A, class B>
bool special(const u32 *a, const u32 *b, unsigned count, u32 c, u32 nan_word, u32 &result) {
    bool nan = false, invalid = false, plus = c == infinity, minus = c == (infinity | sign_bit);
    for (unsigned k = 0; k < count; ++k) {
        const u32 x = code(a, k), y = code(b, k);
        nan |= A::is_nan(x) || B::is_nan(y);
        if (!A::is_infinite(x) && !B::is_infinite(y))
            continue;
        invalid |= (x & 0x7f) == 0 || (y & 0x7f) == 0;
        ((x ^ y) & 0x80 ? minus : plus) = true;
    }
    const bool nan_c = (c & ~sign_bit) > infinity;
    if (!nan && !invalid && !plus && !minus && !nan_c)
        return false;
    result = nan || invalid || (plus && minus) ? nan_word
             : nan_c                           ? c | 0x00400000
                                               : infinity | (minus ? sign_bit : 0);
    return true;
}

// ---- a step: the model of gfx12's DOT2 and DOT4 (2.52), for more products -----------------------

constexpr i32 nothing = -10000; // exponent of a zero: below every grid

i32 shift_down(i32 x, i32 count) { return x >> (count < 31 ? count : 31); }
i32 larger(i32 a, i32 b) { return a > b ? a : b; }

struct Term {
    i32 value, grid; // value * 2^grid
};

template <class A, class B> Term product(u32 x, u32 y) {
    const Factor f = factor<A>(x), g = factor<B>(y);
    const i32 p = f.mantissa * g.mantissa << (24 - A::fraction_bits - B::fraction_bits);
    return {(x ^ y) & 0x80 ? -p : p, p ? f.exponent + g.exponent - 24 : nothing};
}

// Products n, n + 1, ... of Size, truncated to the grid of the largest.
template <class A, class B, unsigned Size> Term group(const u32 *a, const u32 *b, unsigned n) {
    Term products[Size], sum{0, nothing};
    for (unsigned k = 0; k < Size; ++k) {
        products[k] = product<A, B>(code(a, n + k), code(b, n + k));
        sum.grid = larger(sum.grid, products[k].grid);
    }
    for (const Term &p : products)
        sum.value += shift_down(p.value, sum.grid - p.grid);
    return sum;
}

template <class A, class B, unsigned Count, unsigned Size = 2>
u32 step(const u32 *a, const u32 *b, u32 c, u32 nan) {
    u32 decided;
    if (special<A, B>(a, b, Count, c, nan, decided))
        return decided;
    Term groups[Count / Size];
    const i32 field = static_cast<i32>(c >> 23 & 255), lead = (field ? field : 1) - 127;
    const i32 fraction = static_cast<i32>(c & 0x7fffff);
    const i32 magnitude = (field ? fraction | 0x800000 : fraction) << 3;
    i32 grid = lead - 26;
    for (unsigned n = 0; n < Count / Size; ++n) {
        groups[n] = group<A, B, Size>(a, b, Size * n);
        grid = larger(grid, groups[n].grid);
    }
    const i32 down = grid - (lead - 26);
    i32 sum = shift_down(c >> 31 ? -magnitude : magnitude, down);
    sum = shift_down(magnitude, down) ? sum : 0; // an addend without a bit on the grid
    for (const Term &t : groups)
        sum += shift_down(t.value, grid - t.grid);
    return sum ? fp::bits(static_cast<f32>(static_cast<f64>(sum) * fp::power_of_two(grid))) : 0;
}

// ---- all at once, rounded once ------------------------------------------------------------------

template <class A, class B> u32 exact(const u32 *a, const u32 *b, unsigned count, u32 c, u32 nan) {
    u32 decided;
    if (special<A, B>(a, b, count, c, nan, decided))
        return decided;
    // Products are multiples of 2^-32, and below 2^32.
    __int128 sum = 0;
    for (unsigned k = 0; k < count; ++k) {
        const Factor f = factor<A>(code(a, k)), g = factor<B>(code(b, k));
        const i32 up =
            f.exponent + g.exponent + 32 - static_cast<i32>(A::fraction_bits + B::fraction_bits);
        const __int128 p = static_cast<__int128>(f.mantissa * g.mantissa) << up;
        sum += (code(a, k) ^ code(b, k)) & 0x80 ? -p : p;
    }
    const i32 field = static_cast<i32>(c >> 23 & 255), exponent = (field ? field : 1) - 150;
    const i32 mantissa = static_cast<i32>(field ? (c & 0x7fffff) | 0x800000 : c & 0x7fffff);
    const i32 addend = c >> 31 ? -mantissa : mantissa;
    if (sum == 0 || exponent > 60) // far above all products, which can't change its rounding
        return sum == 0 && mantissa == 0 ? 0 : c;
    const i32 grid = exponent > 0 ? -32 : -80; // C's bits below 2^-80 only say "not exact"
    sum <<= -32 - grid;
    const i32 up = exponent - grid;
    if (up >= 0)
        sum += static_cast<__int128>(addend) << up;
    else
        sum = (sum + (up > -31 ? addend >> -up : addend < 0 ? -1 : 0)) | (addend ? 1 : 0);
    if (sum == 0)
        return 0;
    // To a double with a sticky last bit, whose rounding to f32 is then the only one.
    const bool negative = sum < 0;
    unsigned __int128 magnitude = static_cast<unsigned __int128>(negative ? -sum : sum);
    i32 scale = grid;
    while (magnitude >> 52)
        magnitude = magnitude >> 1 | (magnitude & 1), ++scale;
    const f64 value = static_cast<f64>(static_cast<u64>(magnitude)) * fp::power_of_two(scale);
    return fp::bits(static_cast<f32>(negative ? -value : value));
}

template <class A, class B> u32 chain(const u32 *a, const u32 *b, unsigned count, u32 c, u32 nan) {
    u32 decided;
    if (special<A, B>(a, b, count, c, nan, decided))
        return decided;
    f32 sum = fp::f32_of(c);
    for (unsigned k = 0; k < count; ++k)
        sum = fp::fma(fp::f32_of(decode<A>(code(a, k))), fp::f32_of(decode<B>(code(b, k))), sum);
    return fp::bits(sum);
}

} // namespace

template <class A, class B>
void accumulate(u32 *acc, const Row *a, const Row *b, unsigned words, Adding how, u32 nan) {
    constexpr unsigned max_words = 8;
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 x[max_words], y[max_words];
        for (unsigned n = 0; n < words; ++n)
            x[n] = a[n].lane[l], y[n] = b[n].lane[l];
        if (how == Adding::exact)
            acc[l] = exact<A, B>(x, y, per_word * words, acc[l], nan);
        else if (how == Adding::chain)
            acc[l] = chain<A, B>(x, y, per_word * words, acc[l], nan);
        else if (how == Adding::step4)
            for (unsigned n = 0; n < words; ++n)
                acc[l] = step<A, B, 4>(x + n, y + n, acc[l], nan);
        else if (how == Adding::joint4)
            for (unsigned n = 0; n < words; ++n)
                acc[l] = step<A, B, 4, 4>(x + n, y + n, acc[l], nan);
        else
            for (unsigned n = 0; n < words; n += 2)
                acc[l] = step<A, B, 8>(x + n, y + n, acc[l], nan);
    }
}

template <class A, class B>
void dot4(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &) {
    Row x, y, sum;
    blend(x.lane, a, ~0u, 1);
    blend(y.lane, b, ~0u, 1);
    blend(sum.lane, c, ~0u, 1);
    auto chosen = choices().fp8_dot4;
    Adding how = chosen == choice::fp8_dot4::exact   ? Adding::exact
                 : chosen == choice::fp8_dot4::chain ? Adding::chain
                                                     : Adding::joint4;
    MxcsrScope scope(mxcsr_default);
    auto volatile add = accumulate<A, B>; // a call: nothing moves out of the scope
    add(sum.lane, &x, &y, 1, how, factor_nan);
    blend(d, sum.lane, exec, 1);
}

#define INSTANCES(A, B)                                                                            \
    template void accumulate<A, B>(u32 *, const Row *, const Row *, unsigned, Adding, u32);        \
    template void dot4<A, B>(u32 *, const u32 *, const u32 *, const u32 *, u32, const Mode &);
INSTANCES(E4M3, E4M3)
INSTANCES(E4M3, E5M2)
INSTANCES(E5M2, E4M3)
INSTANCES(E5M2, E5M2)
#undef INSTANCES

} // namespace nw::sim::NW_LEVEL::fp8

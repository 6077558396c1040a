// SPDX-License-Identifier: MIT
// gfx11's DOT2 on AVX-512: dot_tame.h's sums for a wider range of values, in half the operations.
// Exponents are handled as two halves per dword; signs relative to C's come from the scale factor.
// Two comparisons per row find values out of range. test_sim_dot checks that it equals the slow
// model.
#pragma once
#include "sim/func/alu/dot_tame.h"
#include "sim/func/alu/host_simd.h"

#if defined(__AVX512BW__)

namespace nw::sim::NW_LEVEL::dot {

inline __m512i all(u32 x) { return _mm512_set1_epi32(static_cast<int>(x)); }

// Exponents of both halves, in bits 15:7 of each, biased as in an f32: 127 for 1. The sum of two is
// a product's, biased by 2 * 127.
struct Exponents {
    __m512i x, y;
    __mmask32 too_large; // contains all infinities and NaNs
};
template <class F> Exponents exponents(__m512i x, __m512i y);

// Below 2^63: a factor that becomes zero (zeros, and what gfx11 flushes) makes a product below
// smallest_grid.
template <> inline Exponents exponents<BF16>(__m512i x, __m512i y) {
    const __m512i ex = _mm512_and_si512(x, all(0x7f807f80)),
                  ey = _mm512_and_si512(y, all(0x7f807f80));
    return {ex, ey, _mm512_cmpgt_epu16_mask(_mm512_max_epu16(ex, ey), _mm512_set1_epi16(189 << 7))};
}
// A subnormal counts as 2^-14. Non-finite values get an exponent that puts any sum off the grid.
template <> inline Exponents exponents<F16>(__m512i x, __m512i y) {
    alignas(64) static constexpr auto table = [] {
        struct {
            u16 of[32];
        } t{};
        for (u16 e = 0; e < 32; ++e)
            t.of[e] = static_cast<u16>((e == 31 ? 267 : 112 + (e ? e : 1)) << 7);
        return t;
    }();
    const __m512i t = _mm512_load_si512(table.of);
    auto of = [&](__m512i v) { return _mm512_permutexvar_epi16(_mm512_srli_epi16(v, 10), t); };
    return {of(x), of(y), 0};
}

// Exponents of grids in units of an f32's exponent field. In this range, 2^-61 to 2^101, all
// significant f32 products are exact and all sums are normal numbers.
inline constexpr u32 smallest_grid = 217 * unit, largest_grid = 379 * unit;
inline constexpr u32 addend_lead = 125 * unit; // C's is biased by 127, and two less
inline constexpr u32 grid_one = 405 * unit;    // 24 more than a product of 2^0

struct Products {
    __m512 low, high;
};

template <class F> Products products(const u32 *a, const u32 *b);
template <> inline Products products<BF16>(const u32 *a, const u32 *b) {
    const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b);
    const __m512i top = _mm512_set1_epi32(static_cast<int>(0xffff0000));
    auto low = [](__m512i v) { return _mm512_castsi512_ps(_mm512_slli_epi32(v, 16)); };
    auto high = [&](__m512i v) { return _mm512_castsi512_ps(_mm512_and_si512(v, top)); };
    return {_mm512_mul_ps(low(x), low(y)), _mm512_mul_ps(high(x), high(y))};
}
template <> inline Products products<F16>(const u32 *a, const u32 *b) {
    auto eight = [](const u32 *p) {
        return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)));
    };
    __m512 p = _mm512_mul_ps(eight(a), eight(b)), q = _mm512_mul_ps(eight(a + 8), eight(b + 8));
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
    return {_mm512_permutex2var_ps(p, even, q), _mm512_permutex2var_ps(p, odd, q)};
}

// The larger of both products' exponents. An f16 zero's exponent must neither count nor hide an
// infinite other factor: the product is tested instead.
template <class F> inline __m512i product_exponent(const Exponents &e, const Products &p) {
    const __m512i both = _mm512_adds_epu16(e.x, e.y), high = all(0xffff0000);
    if constexpr (F::bias == 127)
        return _mm512_max_epu32(_mm512_slli_epi32(both, 16), _mm512_and_si512(both, high));
    auto counts = [](__m512 product) {
        return _mm512_test_epi32_mask(_mm512_castps_si512(product), all(no_sign));
    };
    return _mm512_max_epu32(_mm512_maskz_slli_epi32(counts(p.low), both, 16),
                            _mm512_maskz_and_epi32(counts(p.high), both, high));
}

// 16 lanes. Set bits of `out_of_range` mark lanes whose result isn't the sum.
template <class F>
inline __m512i sum_gfx11(const u32 *a, const u32 *b, const u32 *c, u32 &out_of_range) {
    const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b), z = _mm512_loadu_si512(c);
    const Exponents e = exponents<F>(x, y);
    const Products p = products<F>(a, b);
    const __m512i of_c = _mm512_and_si512(z, all(exponent_field));
    const __m512i grid =
        _mm512_max_epu32(product_exponent<F>(e, p), _mm512_add_epi32(of_c, all(addend_lead)));
    // If both products and C are zero, the sum is +0.
    const __m512i any = _mm512_ternarylogic_epi32(_mm512_castps_si512(p.low),
                                                  _mm512_castps_si512(p.high), of_c, 0xfe);
    const __mmask16 some = _mm512_test_epi32_mask(any, all(no_sign));
    const __mmask16 fits = _mm512_cmple_epu32_mask(_mm512_sub_epi32(grid, all(smallest_grid)),
                                                   all(largest_grid - smallest_grid));
    out_of_range = (some & ~fits) | _pext_u32(e.too_large | e.too_large >> 1, 0x55555555);
    // 2^-grid and 2^grid with C's sign: terms relative to C's sign, where products of the other
    // sign count one less (2.49). Zero where the grid doesn't fit: subnormal products would be slow
    // on the host.
    const __m512i down = _mm512_maskz_ternarylogic_epi32(
        fits, _mm512_sub_epi32(all(grid_one), grid), z, all(sign_bit), 0x78); // d ^ (z & sign)
    const __m512i up = _mm512_sub_epi32(all(254 * unit), down);
    auto cut = [&](__m512 v) { return _mm512_mul_ps(v, _mm512_castsi512_ps(down)); };
    auto term = [&](__m512 product) {
        __m512 v = cut(product);
        return _mm512_add_epi32(_mm512_cvttps_epi32(v),
                                _mm512_srai_epi32(_mm512_castps_si512(v), 31));
    };
    __m512i sum = _mm512_cvttps_epi32(cut(_mm512_castsi512_ps(z)));
    sum = _mm512_add_epi32(sum, _mm512_add_epi32(term(p.low), term(p.high)));
    // + 0: the zero of a sum is positive
    return _mm512_castps_si512(_mm512_maskz_fmadd_ps(some, _mm512_cvtepi32_ps(sum),
                                                     _mm512_castsi512_ps(up), _mm512_setzero_ps()));
}

} // namespace nw::sim::NW_LEVEL::dot

#endif

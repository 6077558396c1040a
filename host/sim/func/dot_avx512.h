// SPDX-License-Identifier: MIT
// gfx11's DOT2 on AVX-512: dot_tame.h's sums for a wider range of values, in half the operations.
// Exponents are looked at two halves to a dword; the signs of products relative to C's come from
// the scale that they are multiplied by. What lies out of range is found by two comparisons of a
// row. test_sim_dot holds it equal to the slow model.
#pragma once
#include "sim/func/dot_tame.h"
#include "sim/func/host_simd.h"

#if defined(__AVX512BW__)

namespace nw::sim::NW_LEVEL::dot {

// Exponents count in units of an f32's exponent field, `unit`.
template <class F> struct Reach;
// Factors below 2^63, the largest term at least 2^-37 (C 2^-35): no f32 product overflows, and what
// underflows, or comes of a factor that is flushed, is less than one on the grid.
template <> struct Reach<BF16> {
    static constexpr u32 exponent = 0x7f807f80, nonzero = exponent; // flushed ones are zero
    static constexpr u32 smallest = 0, largest = 189 << 7;
    static constexpr int as_unit = 16;
    static constexpr u32 bias = 0; // a product's exponent field counts from -2 * 127 + bias
    static constexpr u32 from = 217 * unit, to = 379 * unit;
};
// All of f16's finite values. A subnormal's exponent counts as 1.
template <> struct Reach<F16> {
    static constexpr u32 exponent = 0x7c007c00, nonzero = 0x7fff7fff;
    static constexpr u32 smallest = 0x04000400, largest = 30 << 10;
    static constexpr int as_unit = 13;
    static constexpr u32 bias = 224 * unit;
    static constexpr u32 from = 1 * unit, to = 155 * unit;
};

// The grid's exponent in units of product exponents: that of C counts two less of its own.
inline constexpr u32 addend_lead = 125 * unit, grid_one = 405 * unit;

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

// 16 lanes. Bits of `out_of_range` say that the sum isn't one.
template <class F>
inline __m512i sum_gfx11(const u32 *a, const u32 *b, const u32 *c, u32 &out_of_range) {
    using R = Reach<F>;
    auto all = [](u32 x) { return _mm512_set1_epi32(static_cast<int>(x)); };
    const __m512i x = _mm512_loadu_si512(a), y = _mm512_loadu_si512(b), z = _mm512_loadu_si512(c);
    auto exponents = [&](__m512i v) {
        __m512i e = _mm512_and_si512(v, all(R::exponent));
        return R::smallest ? _mm512_max_epu16(e, all(R::smallest)) : e;
    };
    const __m512i ex = exponents(x), ey = exponents(y);
    const __mmask32 too_large =
        _mm512_cmpgt_epu16_mask(_mm512_max_epu16(ex, ey), _mm512_set1_epi16(R::largest));
    // The larger exponent of the two products, as far as they aren't zero, or of C.
    const __mmask32 nonzero =
        _mm512_mask_test_epi16_mask(_mm512_test_epi16_mask(x, all(R::nonzero)), y, all(R::nonzero));
    const __m512i both = _mm512_maskz_add_epi16(nonzero, ex, ey);
    const __m512i larger =
        _mm512_slli_epi32(_mm512_max_epu16(both, _mm512_srli_epi32(both, 16)), R::as_unit);
    const __m512i of_c = _mm512_and_si512(z, all(exponent_field));
    // Where neither product nor C is anything the sum is +0.
    const __m512i any = _mm512_or_si512(both, of_c);
    const __mmask16 some = _mm512_test_epi32_mask(any, any);
    const __m512i lead = _mm512_add_epi32(of_c, all(addend_lead - R::bias));
    const __m512i grid = R::bias ? _mm512_max_epi32(larger, lead) : _mm512_max_epu32(larger, lead);
    const __mmask16 out = _mm512_mask_cmpgt_epu32_mask(some, _mm512_sub_epi32(grid, all(R::from)),
                                                       all(R::to - R::from));
    out_of_range |= too_large | out;
    auto with_sign_of_c = [&](__m512i v) { // v ^ (c & sign)
        return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(v, z, all(sign_bit), 0x78));
    };
    const __m512 down = with_sign_of_c(_mm512_sub_epi32(all(grid_one - R::bias), grid));
    const __m512 up = with_sign_of_c(_mm512_sub_epi32(grid, all(grid_one - R::bias - 254 * unit)));
    // Terms as seen from C's side: there products of the other sign count one less (2.49).
    const Products p = products<F>(a, b);
    auto term = [&](__m512 product) {
        __m512 v = _mm512_mul_ps(product, down);
        return _mm512_add_epi32(_mm512_cvttps_epi32(v),
                                _mm512_srai_epi32(_mm512_castps_si512(v), 31));
    };
    __m512i sum = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_castsi512_ps(z), down));
    sum = _mm512_add_epi32(sum, _mm512_add_epi32(term(p.low), term(p.high)));
    // + 0: the zero of a sum is positive
    return _mm512_castps_si512(
        _mm512_maskz_fmadd_ps(some, _mm512_cvtepi32_ps(sum), up, _mm512_setzero_ps()));
}

} // namespace nw::sim::NW_LEVEL::dot

#endif

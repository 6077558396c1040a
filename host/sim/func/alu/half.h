// SPDX-License-Identifier: MIT
// Rows of f16 to f32 and back, with the host's conversions where it has them. Per host level.
#pragma once
#include "sim/func/alu/fp.h"
#include "sim/func/alu/host_simd.h"
#include "sim/func/wave.h"

namespace nw::sim::NW_LEVEL {

inline constexpr unsigned row_halves = 2 * row_lanes;

// A row's halves as they lie in memory: low half of lane 0, high half of lane 0, and so on. Exact,
// but a signalling NaN may come out quiet.
inline void widen_halves(f32 *out, const u32 *r) {
#if defined(__AVX512F__)
    for (unsigned n = 0; n < row_halves; n += 16)
        _mm512_storeu_ps(out + n, _mm512_cvtph_ps(_mm256_loadu_si256(
                                      reinterpret_cast<const __m256i *>(r + n / 2))));
#elif defined(__F16C__)
    for (unsigned n = 0; n < row_halves; n += 8)
        _mm256_storeu_ps(out + n, _mm256_cvtph_ps(_mm_loadu_si128(
                                      reinterpret_cast<const __m128i *>(r + n / 2))));
#else
    for (unsigned l = 0; l < row_lanes; ++l) {
        out[2 * l] = fp::widen16(r[l] & 0xffff);
        out[2 * l + 1] = fp::widen16(r[l] >> 16);
    }
#endif
}

// The inverse: to nearest even as fp::narrow16_nearest, subnormals kept.
inline void narrow_halves(u32 *out, const f32 *x) {
#if defined(__F16C__)
    constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#endif
#if defined(__AVX512F__)
    for (unsigned n = 0; n < row_halves; n += 16)
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + n / 2),
                            _mm512_cvtps_ph(_mm512_loadu_ps(x + n), nearest));
#elif defined(__F16C__)
    for (unsigned n = 0; n < row_halves; n += 8)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(out + n / 2),
                         _mm256_cvtps_ph(_mm256_loadu_ps(x + n), nearest));
#else
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = fp::narrow16_nearest(x[2 * l]) | fp::narrow16_nearest(x[2 * l + 1]) << 16;
#endif
}

// One half per lane, in bits 15:0.
inline void widen_row(f32 *out, const u32 *r) {
#if defined(__AVX512F__)
    for (unsigned l = 0; l < row_lanes; l += 16)
        _mm512_storeu_ps(out + l,
                         _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_loadu_si512(r + l))));
#elif defined(__F16C__) && defined(__AVX2__)
    const __m128i low = _mm_set1_epi32(0xffff);
    for (unsigned l = 0; l < row_lanes; l += 8) {
        auto four = [&](unsigned at) {
            return _mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i *>(r + at)), low);
        };
        _mm256_storeu_ps(out + l, _mm256_cvtph_ps(_mm_packus_epi32(four(l), four(l + 4))));
    }
#else
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = fp::widen16(r[l] & 0xffff);
#endif
}

// To nearest even, or as fp::narrow16_toward_zero.
template <bool TowardZero = false> inline void narrow_row(u32 *out, const f32 *x) {
#if defined(__F16C__)
    constexpr int rounding =
        (TowardZero ? _MM_FROUND_TO_ZERO : _MM_FROUND_TO_NEAREST_INT) | _MM_FROUND_NO_EXC;
#endif
#if defined(__AVX512F__)
    for (unsigned l = 0; l < row_lanes; l += 16) {
        __m256i h = _mm512_cvtps_ph(_mm512_loadu_ps(x + l), rounding);
        _mm512_storeu_si512(out + l, _mm512_cvtepu16_epi32(h));
    }
#elif defined(__F16C__) && defined(__AVX2__)
    for (unsigned l = 0; l < row_lanes; l += 8) {
        __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(x + l), rounding);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + l), _mm256_cvtepu16_epi32(h));
    }
#else
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = TowardZero ? fp::narrow16_toward_zero(x[l]) : fp::narrow16_nearest(x[l]);
#endif
}

} // namespace nw::sim::NW_LEVEL

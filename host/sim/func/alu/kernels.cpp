// SPDX-License-Identifier: MIT
// The rows of valu.inc as kernels. Compiled once per host vector level.
#include "sim/func/alu/kernels.h"

#include "sim/func/alu/bit.h"
#include "sim/func/alu/dot.h"
#include "sim/func/alu/fp8_dot.h"
#include "sim/func/alu/fp_div.h"
#include "sim/func/alu/host_simd.h"
#include "sim/func/alu/lanes.h"
#include "sim/func/alu/trans.h"

namespace nw::sim::NW_LEVEL {

u32 mask_of(const u32 *truth) {
#if defined(__AVX512DQ__)
    __m512i low = _mm512_load_si512(truth), high = _mm512_load_si512(truth + 16);
    return _mm512_movepi32_mask(low) | static_cast<u32>(_mm512_movepi32_mask(high)) << 16;
#elif defined(__AVX__)
    u32 mask = 0;
    for (unsigned i = 0; i < 4; ++i) {
        __m256 part = _mm256_load_ps(reinterpret_cast<const float *>(truth + 8 * i));
        mask |= static_cast<u32>(_mm256_movemask_ps(part)) << 8 * i;
    }
    return mask;
#else
    u32 mask = 0;
    for (unsigned l = 0; l < row_lanes; ++l)
        mask |= truth[l] >> 31 << l;
    return mask;
#endif
}

namespace {

// v_cvt_f16_*, mixes and similar produce an f16; all others their own type.
template <Type D, Type A, Type B, Type C, class F, class N>
void float_row(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m, F f,
               N n) {
    if constexpr (D == Type::f16)
        run_half<A, B, C>(d, a, b, c, exec, m, f, n);
    else
        run_float<D, A, B, C>(d, a, b, c, exec, m, f, n);
}

template <Type D, Type A, Type B, Type C, class F>
void value_row(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m, F f) {
    if constexpr (D == Type::f16)
        run_half_pick<A, B, C>(d, a, b, c, exec, m, f);
    else
        run_lanes<D, A, B, C>(d, a, b, c, exec, m, f);
}

template <Type T> i64 saturate(i64 x) {
    constexpr i64 low = T == Type::i32 ? -0x80000000ll : T == Type::i16 ? -0x8000 : 0;
    constexpr i64 high = T == Type::i32   ? 0x7fffffff
                         : T == Type::i16 ? 0x7fff
                         : T == Type::u32 ? 0xffffffffll
                                          : 0xffff;
    return x < low ? low : x > high ? high : x;
}

#if defined(__AVX512BW__)
// bit::permute in 16 lanes.
inline __m512i permute_bytes(__m512i a, __m512i b, __m512i selector) {
    const __m512i own = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
    auto has = [&](char bit) { return _mm512_test_epi8_mask(selector, _mm512_set1_epi8(bit)); };
    auto pick = [&](__m512i byte, __mmask64 of_a) {
        __m512i at = _mm512_or_si512(byte, own);
        return _mm512_mask_shuffle_epi8(_mm512_shuffle_epi8(b, at), of_a, a, at);
    };
    __m512i r = pick(_mm512_and_si512(selector, _mm512_set1_epi8(3)), has(4));
    __mmask64 special = has(static_cast<char>(0xf8));
    if (!special)
        return r;
    // Signs of bytes 1 and 3; then 0 for 12, all ones above.
    __m512i odd = _mm512_add_epi8(selector, selector);
    odd = _mm512_or_si512(_mm512_and_si512(odd, _mm512_set1_epi8(2)), _mm512_set1_epi8(1));
    __mmask64 sign = _mm512_movepi8_mask(pick(odd, has(2)));
    __mmask64 above = _mm512_cmpgt_epu8_mask(selector, _mm512_set1_epi8(11));
    __mmask64 ones = _mm512_cmpgt_epu8_mask(selector, _mm512_set1_epi8(12));
    return _mm512_mask_mov_epi8(r, special, _mm512_movm_epi8((sign & ~above) | ones));
}
#endif

// Inlines everything that a row calls: a single call in the lane loop prevents vectorisation, and
// the compiler's inlining budget for so large a file runs out.
#define ROW [[gnu::flatten]]
#define KERNEL_ARGS u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m
#define LANE                                                                                       \
    [[maybe_unused]] auto a, [[maybe_unused]] auto b, [[maybe_unused]] auto c,                     \
        [[maybe_unused]] const Mode &m

// One function per row, named as its instruction.
namespace rows {
#define OP(mn, cls, T, ...) OPX(mn, cls, T, T, T, T, __VA_ARGS__)
#define OPX(mn, cls, D, A, B, C, ...)                                                              \
    ROW void mn(KERNEL_ARGS) {                                                                     \
        value_row<T_::D, T_::A, T_::B, T_::C>(d, a, b, c, exec, m,                                 \
                                              [](LANE) { return __VA_ARGS__; });                   \
    }
#define OPS(mn, cls, T, value, ...) OP(mn, cls, T, value)
#define OPSX(mn, cls, D, A, B, C, value, ...) OPX(mn, cls, D, A, B, C, value)
#define FOP(mn, cls, T, expr, ...) FOPX(mn, cls, T, T, T, T, expr, __VA_ARGS__)
#define FOPX(mn, cls, D, A, B, C, expr, ...)                                                       \
    ROW void mn(KERNEL_ARGS) {                                                                     \
        float_row<T_::D, T_::A, T_::B, T_::C>(                                                     \
            d, a, b, c, exec, m, [](LANE) { return expr; },                                        \
            [](LANE) { return fp::nan_of(m, __VA_ARGS__); });                                      \
    }
#define ACC(mn, cls, T, ...) OP(mn, cls, T, __VA_ARGS__)
#define FACC(mn, cls, T, expr, ...) FOP(mn, cls, T, expr, __VA_ARGS__)
#define PK(mn, T, ...)                                                                             \
    ROW void mn(KERNEL_ARGS) {                                                                     \
        run_packed<T_::T>(d, a, b, c, exec, m, [](LANE) { return __VA_ARGS__; });                  \
    }
#define PKS(mn, T, value, ...) PK(mn, T, value)
#define FPK(mn, expr, ...)                                                                         \
    ROW void mn(KERNEL_ARGS) {                                                                     \
        run_packed_half(                                                                           \
            d, a, b, c, exec, m, [](LANE) { return expr; },                                        \
            [](LANE) { return fp::nan_of(m, __VA_ARGS__); });                                      \
    }
#define FPKACC(mn, expr, ...) FPK(mn, expr, __VA_ARGS__)
#define FPKM(mn, ...)                                                                              \
    ROW void mn(KERNEL_ARGS) {                                                                     \
        run_packed_pick(d, a, b, c, exec, m, [](LANE) { return __VA_ARGS__; });                    \
    }
#define ROWS(mn, cls, shape, D, A, B, C, fn)                                                       \
    ROW void mn(KERNEL_ARGS) { fn(d, a, b, c, exec, m); }
#define CMP(mn, T, ...) CMPX(mn, T, T, __VA_ARGS__)
#define CMPX(mn, A, B, ...)                                                                        \
    ROW u32 mn(const u32 *a, const u32 *b, const Mode &m) {                                        \
        return run_mask<T_::A, T_::B>(a, b, m,                                                     \
                                      []([[maybe_unused]] auto a, [[maybe_unused]] auto b,         \
                                         [[maybe_unused]] const Mode &m) { return __VA_ARGS__; }); \
    }

constexpr auto dot2_f32_f16 = dot::run32<dot::F16>;
constexpr auto dot2_f32_bf16 = dot::run32<dot::BF16>;
void dot2_f16_f16(KERNEL_ARGS) { dot::run16<dot::F16>(d, a, b, c, exec, m, dot::Out::f16); }
void dot2_bf16_bf16(KERNEL_ARGS) { dot::run16<dot::BF16>(d, a, b, c, exec, m, dot::Out::bf16); }

void interp_p10_rtz(KERNEL_ARGS), interp_p2_rtz(KERNEL_ARGS);

void cvt_pk_rtz(u32 *d, const u32 *a, const u32 *b, const u32 *, u32 exec, const Mode &) {
    alignas(64) f32 x[row_lanes], y[row_lanes];
    alignas(64) u32 low[row_lanes], high[row_lanes];
    std::memcpy(x, a, sizeof x);
    std::memcpy(y, b, sizeof y);
    narrow_row<true>(low, x);
    narrow_row<true>(high, y);
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l)
        d[l] = exec >> l & 1 ? low[l] | high[l] << 16 : d[l];
}

ROW void permute(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &) {
    Row r;
#if defined(__AVX512BW__)
    for (unsigned l = 0; l < row_lanes; l += 16)
        _mm512_store_si512(r.lane + l,
                           permute_bytes(_mm512_loadu_si512(a + l), _mm512_loadu_si512(b + l),
                                         _mm512_loadu_si512(c + l)));
#else
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l)
        r.lane[l] = bit::permute(a[l], b[l], c[l]);
#endif
    blend(d, r.lane, exec, 1);
}

#include "sim/isa/tables/valu.inc"
#undef OP
#undef OPX
#undef OPS
#undef OPSX
#undef FOP
#undef FOPX
#undef ACC
#undef FACC
#undef PK
#undef PKS
#undef FPK
#undef FPKACC
#undef FPKM
#undef ROWS
#undef CMP
#undef CMPX

// The rows without `rtz`, rounded toward zero.
void interp_p10_rtz(KERNEL_ARGS) {
    MxcsrScope scope(get_mxcsr() | 3u << 13);
    LaneKernel volatile row = v_interp_p10_f16_f32; // a call: nothing moves out of the scope
    row(d, a, b, c, exec, m);
}
void interp_p2_rtz(KERNEL_ARGS) {
    Mode toward_zero = m;
    toward_zero.round16_64 = round_zero;
    v_interp_p2_f16_f32(d, a, b, c, exec, toward_zero);
}
} // namespace rows

// The saturating twin of the integer rows.
namespace saturating {
#define OPS(mn, cls, T, ...) OPSX(mn, cls, T, T, T, T, __VA_ARGS__)
#define OPSX(mn, cls, D, A, B, C, value, ...)                                                      \
    ROW void mn(KERNEL_ARGS) {                                                                     \
        run_lanes<T_::D, T_::A, T_::B, T_::C>(d, a, b, c, exec, m,                                 \
                                              [](LANE) { return saturate<T_::D>(__VA_ARGS__); });  \
    }
#define PKS(mn, T, value, ...)                                                                     \
    ROW void mn(KERNEL_ARGS) {                                                                     \
        run_packed<T_::T>(d, a, b, c, exec, m, [](LANE) { return saturate<T_::T>(__VA_ARGS__); }); \
    }
#define OP(...)
#define OPX(...)
#define FOP(...)
#define FOPX(...)
#define ACC(...)
#define FACC(...)
#define PK(...)
#define FPK(...)
#define FPKACC(...)
#define FPKM(...)
#define ROWS(...)
#define CMP(...)
#define CMPX(...)
#include "sim/isa/tables/valu.inc"
#undef OP
#undef OPX
#undef OPS
#undef OPSX
#undef FOP
#undef FOPX
#undef ACC
#undef FACC
#undef PK
#undef PKS
#undef FPK
#undef FPKACC
#undef FPKM
#undef ROWS
#undef CMP
#undef CMPX
} // namespace saturating

size_t at(Op op) { return static_cast<size_t>(op); }

} // namespace

void fill_kernels(Frames &f) {
#define LANE_ROW(mn) f.lane[at(Op::mn)] = rows::mn;
#define OP(mn, ...) LANE_ROW(mn)
#define OPX(mn, ...) LANE_ROW(mn)
#define FOP(mn, ...) LANE_ROW(mn)
#define FOPX(mn, ...) LANE_ROW(mn)
#define ACC(mn, ...) LANE_ROW(mn)
#define FACC(mn, ...) LANE_ROW(mn)
#define PK(mn, ...) LANE_ROW(mn)
#define FPK(mn, ...) LANE_ROW(mn)
#define FPKACC(mn, ...) LANE_ROW(mn)
#define FPKM(mn, ...) LANE_ROW(mn)
#define ROWS(mn, ...) LANE_ROW(mn)
#define OPS(mn, ...) LANE_ROW(mn) f.clamp[at(Op::mn)] = saturating::mn;
#define OPSX(mn, ...) LANE_ROW(mn) f.clamp[at(Op::mn)] = saturating::mn;
#define PKS(mn, ...) LANE_ROW(mn) f.clamp[at(Op::mn)] = saturating::mn;
#define CMP(mn, ...) f.mask[at(Op::mn)] = rows::mn;
#define CMPX(mn, ...) f.mask[at(Op::mn)] = rows::mn;
#include "sim/isa/tables/valu.inc"
}

} // namespace nw::sim::NW_LEVEL

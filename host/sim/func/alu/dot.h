// SPDX-License-Identifier: MIT
// DOT2 and the steps of WMMA: the fixed-point model of isa_semantics 2.49 to 2.52, supported by
// hardware captures. Products and addend are truncated to a common grid, added as integers and
// rounded once.
#pragma once
#include "sim/func/alu/lanes.h"

namespace nw::sim::NW_LEVEL::dot {

// f16 and bf16 as sources: `room` bits are free below a product, so product << room is in units of
// 2^(exponent sum - 24).
struct F16 {
    static constexpr u32 mantissa_bits = 10, exponent_mask = 31, bias = 15, room = 4;
    static constexpr bool gfx11_flushes = false;
};
struct BF16 {
    static constexpr u32 mantissa_bits = 7, exponent_mask = 255, bias = 127, room = 10;
    static constexpr bool gfx11_flushes = true;
};

enum class Out : u8 { f32, f16, bf16 };

// Factors of 32 lanes: one pair per lane, or two in gfx12's DOT4 step of WMMA. Low halves of the
// first words come first.
struct Factors {
    const u32 *a[2] = {}, *b[2] = {};
    unsigned words = 1;
};

// Exact model of all lanes: any value, any output. 16-bit C and results are in the low halves.
template <class F> void book(u32 *d, const Factors &, const u32 *c, Out out, const Mode &m);

} // namespace nw::sim::NW_LEVEL::dot

#include "sim/func/alu/dot_avx512.h"
#include "sim/func/alu/dot_tame.h"

namespace nw::sim::NW_LEVEL::dot {

// True if every active lane is tame: `d` then has the sums, which the fast path computes anyway.
template <class F, bool Gfx12>
inline bool run_tame(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec) {
    alignas(64) u32 r[row_lanes], wild[row_lanes];
    u32 any = 0;
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 x = a[l], y = b[l], z = c[l];
        r[l] = Gfx12 ? tame_gfx12<F>(x, y, z) : tame_gfx11<F>(x, y, z);
        wild[l] = wild_bits<F>(x) | wild_bits<F>(y) | wild_addend_bit(z);
        any |= wild[l];
    }
    if (any && exec != ~0u) {
        any = 0;
        for (unsigned l = 0; l < row_lanes; ++l)
            any |= exec >> l & 1 ? wild[l] : 0;
    }
    if (any)
        return false;
    if (exec == ~0u)
        std::memcpy(d, r, sizeof r);
    else
        blend(d, r, exec, 1);
    return true;
}

// The same with AVX-512: false where the host has none, or for gfx12.
template <class F>
inline bool run_gfx11([[maybe_unused]] u32 *d, [[maybe_unused]] const u32 *a,
                      [[maybe_unused]] const u32 *b, [[maybe_unused]] const u32 *c,
                      [[maybe_unused]] u32 exec) {
#if defined(__AVX512BW__)
    u32 low_out, high_out;
    __m512i low = sum_gfx11<F>(a, b, c, low_out);
    __m512i high = sum_gfx11<F>(a + 16, b + 16, c + 16, high_out);
    if ((low_out | high_out << 16) & exec)
        return false;
    if (exec == ~0u) [[likely]] {
        _mm512_storeu_si512(d, low);
        _mm512_storeu_si512(d + 16, high);
        return true;
    }
    _mm512_mask_storeu_epi32(d, static_cast<__mmask16>(exec), low);
    _mm512_mask_storeu_epi32(d + 16, static_cast<__mmask16>(exec >> 16), high);
    return true;
#else
    return false;
#endif
}

template <class F> inline f32 any_half(u32 high) { // in bits 31:16; every value
    if constexpr (F::bias == 127)
        return fp::f32_of(high & 0xffff0000);
    else
        return fp::widen16(high >> 16);
}

// HIPSIM_MATH=fast: two fused multiply-adds.
template <class F>
[[gnu::noinline]] void run_fast(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec) {
    alignas(64) u32 r[row_lanes];
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l) {
        f32 low = fp::fma(any_half<F>(a[l] << 16), any_half<F>(b[l] << 16), fp::f32_of(c[l]));
        r[l] = fp::bits(fp::fma(any_half<F>(a[l]), any_half<F>(b[l]), low));
    }
    blend(d, r, exec, 1);
}

// Out of line, so that the fast path doesn't pay for its stack frame.
template <class F>
[[gnu::noinline]] void run_any(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec,
                               const Mode &m) {
    if (m.gfx12 ? run_tame<F, true>(d, a, b, c, exec) : run_tame<F, false>(d, a, b, c, exec))
        [[likely]]
        return;
    alignas(64) u32 r[row_lanes];
    book<F>(r, {{a}, {b}, 1}, c, Out::f32, m);
    blend(d, r, exec, 1);
}

template <class F>
inline void run32(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m) {
    if (m.fast) [[unlikely]]
        return run_fast<F>(d, a, b, c, exec);
    if (m.gfx12 || !run_gfx11<F>(d, a, b, c, exec)) [[unlikely]]
        run_any<F>(d, a, b, c, exec, m);
}

template <class F>
inline void run16(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m,
                  Out out) {
    alignas(64) u32 r[row_lanes];
    book<F>(r, {{a}, {b}, 1}, c, out, m);
    for (unsigned l = 0; l < row_lanes; ++l)
        r[l] |= d[l] & 0xffff0000;
    blend(d, r, exec, 1);
}

} // namespace nw::sim::NW_LEVEL::dot

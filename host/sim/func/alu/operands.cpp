// SPDX-License-Identifier: MIT
#include "sim/func/alu/operands.h"

#include "sim/func/alu/half.h"
#include "sim/func/alu/host_simd.h"
#include "sim/func/choices.h"

namespace nw::sim::NW_LEVEL {

namespace {

// out[l] = x[from[l]], both of the same 16 lanes.
void gather_in_rows(const u32 *x, u32 *out, const u8 *from) {
#if defined(__AVX2__)
    for (unsigned l = 0; l < row_lanes; l += 8) {
        const auto *row = reinterpret_cast<const __m256i *>(x + (l & 16));
        const __m256i at =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i *>(from + l)));
        const __m256i low = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(row), at),
                      high = _mm256_permutevar8x32_epi32(_mm256_loadu_si256(row + 1), at),
                      is_high = _mm256_slli_epi32(at, 28); // bit 3 in the sign
        const __m256 one = _mm256_blendv_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high),
                                            _mm256_castsi256_ps(is_high));
        _mm256_storeu_ps(reinterpret_cast<f32 *>(out + l), one);
    }
#else
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = x[from[l]];
#endif
}

u32 active_sources(const Dpp &dpp, u32 exec) {
    if (exec == ~0u)
        return exec;
    u32 active = 0;
    for (unsigned l = 0; l < row_lanes; ++l)
        active |= (exec >> dpp.from[l] & 1) << l;
    return active;
}

// Lanes disabled by EXEC are read, too.
void share_in_quad(const u32 *x, u32 *out, unsigned lane) {
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = x[(l & ~3u) | lane];
}

// out = x with the sign bit cleared (abs), then flipped (neg).
void change_sign(const u32 *x, u32 *out, bool abs, bool neg, u32 sign) {
    u32 keep = abs ? ~sign : ~0u, flip = neg ? sign : 0;
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = (x[l] & keep) ^ flip;
}

// `out` is `x` with modified signs: S-025 restores the signs of NaNs.
void spare_nans(const u32 *x, u32 *out, u32 infinity, u32 magnitude) {
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = (x[l] & magnitude) > infinity ? x[l] : out[l];
}

void select_halves(const u32 *x, u32 *out, const Extra::Source &s, bool negatable) {
    unsigned low = s.op_sel ? 16 : 0, high = s.op_sel_hi ? 16 : 0;
    u32 flip = negatable ? (s.neg ? 0x8000u : 0) | (s.neg_hi ? 0x80000000u : 0) : 0;
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = ((x[l] >> low & 0xffff) | (x[l] >> high) << 16) ^ flip;
}

// False, with `out` as it was, if there is a NaN: the host's conversion may make it quiet.
bool widen_numbers(const u32 *x, u32 *out, unsigned shift, const Extra::Source &s) {
    Row half;
    alignas(64) f32 wide[row_lanes];
    u32 nan = 0;
    for (unsigned l = 0; l < row_lanes; ++l) {
        half.lane[l] = x[l] >> shift;
        nan |= (half.lane[l] & 0x7fff) > 0x7c00;
    }
    if (nan)
        return false;
    widen_row(wide, half.lane);
    const u32 keep = s.abs ? 0x7fffffff : ~0u, flip = s.neg ? 0x80000000 : 0;
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = (fp::bits(wide[l]) & keep) ^ flip;
    return true;
}

void widen_mix(const u32 *x, u32 *out, const Extra::Source &s, const Mode &m) {
    if (!s.f16)
        return change_sign(x, out, s.abs, s.neg, 0x80000000);
    const unsigned shift = s.high ? 16 : 0;
    if (m.keep16 == 0xffff && widen_numbers(x, out, shift, s))
        return;
    const u32 kept = m.keep16, keep = s.abs ? 0x7fff : 0xffff, flip = s.neg ? 0x8000 : 0;
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 h = x[l] >> shift & 0xffff;
        h = h & 0x7c00 ? h : h & kept;
        out[l] = fp::bits(fp::widen16((h & keep) ^ flip));
    }
}

// SDWA: a piece of x, extended.
void select_piece(const u32 *x, u32 *out, const Piece &p) {
    const unsigned left = 32 - p.bits - p.shift, right = 32 - p.bits;
    if (p.is_signed)
        for (unsigned l = 0; l < row_lanes; ++l)
            out[l] = static_cast<u32>(static_cast<i32>(x[l] << left) >> right);
    else
        for (unsigned l = 0; l < row_lanes; ++l)
            out[l] = x[l] << left >> right;
}

const u32 *modify(const u32 *x, Row *room, const Extra::Source &s, const Mode &m) {
    u32 *out = room[0].lane;
    switch (s.type) {
    case Type::pk16:
        select_halves(x, out, s, false);
        return out;
    case Type::pkf16:
    case Type::pkbf16:
        select_halves(x, out, s, true);
        return out;
    case Type::mix:
        if (!s.f16 && !s.abs && !s.neg)
            return x;
        widen_mix(x, out, s, m);
        return out;
    case Type::u64:
    case Type::i64:
    case Type::f64:
        if (!s.abs && !s.neg)
            return x;
        for (unsigned l = 0; l < row_lanes; ++l)
            out[l] = x[l];
        change_sign(x + row_lanes, out + row_lanes, s.abs, s.neg, 0x80000000);
        return out;
    default:
        break;
    }
    if (s.byte) {
        for (unsigned l = 0; l < row_lanes; ++l)
            out[l] = x[l] >> 8 * s.byte;
        return out;
    }
    if (!s.high && !s.abs && !s.neg)
        return x;
    if (!is_half(s.type)) {
        if (s.spares_nan)
            out = room[1].lane; // DPP may have used the first for x
        change_sign(x, out, s.abs, s.neg, 0x80000000);
        if (s.spares_nan)
            spare_nans(x, out, 0x7f800000, 0x7fffffff);
        return out;
    }
    u32 *half = room[1].lane;
    for (unsigned l = 0; l < row_lanes; ++l)
        half[l] = x[l] >> (s.high ? 16 : 0);
    change_sign(half, out, s.abs, s.neg, 0x8000);
    if (s.spares_nan)
        spare_nans(half, out, s.type == Type::f16 ? 0x7c00 : 0x7f80, 0x7fff);
    return out;
}

} // namespace

u32 read_permuted(const Dpp &dpp, const u32 *x, u32 *out, u32 exec, unsigned half) {
    const bool zero_edge =
        dpp.fetch_inactive && choices().dpp_fi_edge == choice::dpp_fi_edge::zero; // S-046
    const u32 readable = dpp.in_row & (dpp.fetch_inactive ? ~0u : active_sources(dpp, exec));
    gather_in_rows(x, out, dpp.from);
    if (readable != ~0u)
        for (unsigned l = 0; l < row_lanes; ++l)
            out[l] &= 0u - (readable >> l & 1);
    return exec & dpp.placed[half] & (dpp.bound_ctrl || zero_edge ? ~0u : readable);
}

void Operands::full(Wave &w, const Inst &i, unsigned half) {
    const Extra &e = *i.extra;
    write = w.exec(half);
    for (unsigned n = 0; n < 3; ++n) {
        const u32 *x = fetch(w, i.src[n], half, room_[n]);
        if (n == 0 && e.dpp.kind != Dpp::none) {
            write = read_permuted(e.dpp, x, room_[0][0].lane, write, half);
            x = room_[0][0].lane;
        }
        if (e.src[n].piece.bits < 32) {
            select_piece(x, room_[n][0].lane, e.src[n].piece);
            x = room_[n][0].lane;
        }
        if (int lane = e.src[n].quad; lane >= 0) {
            share_in_quad(x, room_[n][1].lane, static_cast<unsigned>(lane));
            x = room_[n][1].lane;
        }
        src[n] = modify(x, room_[n], e.src[n], w.mode);
    }
}

} // namespace nw::sim::NW_LEVEL

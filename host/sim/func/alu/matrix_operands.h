// SPDX-License-Identifier: MIT
// Layout of a matrix instruction's operands: lanes, registers and halves (2.53, 2.55). Compiled per
// host level.
#pragma once
#include <span>

#include "sim/func/alu/lanes.h"
#include "sim/func/alu/matrix.h"
#include "sim/func/choices.h"

namespace nw::sim::NW_LEVEL {

inline constexpr unsigned side = 16;     // rows of A and D, columns of B and D
inline constexpr unsigned max_words = 8; // dwords of one row of A: 16 halves

// Rows of A, or columns of B, as dwords in ascending k.
struct Factor {
    alignas(64) u32 word[max_words][side];
};

inline bool has_halves(Element e) { return e == Element::f16 || e == Element::bf16; }
inline unsigned bits_of(Element e) { return has_halves(e) ? 16 : e == Element::iu4 ? 4 : 8; }

// Dwords of k elements.
inline unsigned words_of(Element e, unsigned k) { return k * bits_of(e) / 32; }
inline unsigned words_of(const MatrixOp &op) { return words_of(op.a, op.k); }

struct Place {
    unsigned reg, lane;
};

// Location of dword `n` of `words` in row 0 (2.53, 2.55, S-003). gfx11 holds whole rows in lanes
// 0-15, duplicated in the others. gfx12 spreads k over the lanes: chunks alternate between lanes
// 0-15 and 16-31, and a wave64 has the upper half of a wave32's registers in lanes 32-63.
inline Place place_of(const Wave &w, Element e, unsigned words, unsigned n) {
    if (!w.mode.gfx12)
        return {n, 0};
    unsigned chunk = has_halves(e) ? words / 4 : words / 2, registers = words / 2;
    Place p{n / (2 * chunk) * chunk + n % chunk, n / chunk % 2 * side};
    if (w.halves == 2 && registers > 1 && p.reg >= registers / 2) {
        p.reg -= registers / 2;
        p.lane += row_lanes;
    }
    return p;
}

// `words` dwords of 16 rows, from the registers that start with `first`.
inline void read_words(Wave &w, Element e, unsigned words, unsigned first, u32 flip,
                       u32 (*to)[side]) {
    for (unsigned n = 0; n < words; ++n) {
        Place p = place_of(w, e, words, n); // rows follow one another
        const u32 *from = w.row(first + p.reg, p.lane / row_lanes) + p.lane % row_lanes;
        std::memcpy(to[n], from, sizeof to[n]);
        if (flip)
            for (u32 &word : std::span(to[n]))
                word ^= flip;
    }
}

inline Factor read(Wave &w, const MatrixOp &op, unsigned first, u32 flip) {
    Factor f;
    read_words(w, op.a, words_of(op), first, flip, f.word);
    return f;
}

// Row of D in register v (of 32-bit elements), by lane of the wave.
inline unsigned row_of(const Wave &w, unsigned v, unsigned lane) {
    unsigned group = lane / side;
    return w.mode.gfx12 ? v + 8 * (group % 2) + 4 * (group / 2) : 2 * w.halves * v + group;
}

// ---- C and D

// Elements of C and D that one lane holds: 8 in wave32, 4 in wave64.
inline unsigned elements(const Wave &w) { return 8 / w.halves; }

// 16-bit elements: gfx11 has one per register, in the half that op_sel names; gfx12 two.
inline u32 read16(Wave &w, const Matrix &m, unsigned e, unsigned half, unsigned l) {
    if (m.c.kind != Source::vgpr)
        return m.c.value & 0xffff;
    if (w.mode.gfx12)
        return w.row(m.c.at + e / 2, half)[l] >> 16 * (e & 1) & 0xffff;
    return w.row(m.c.at + e, half)[l] >> (m.high_half ? 16 : 0) & 0xffff;
}

inline void write16(Wave &w, const Matrix &m, unsigned e, unsigned half, const Row &r) {
    bool high = w.mode.gfx12 ? e & 1 : m.high_half;
    u32 *d = w.row(w.mode.gfx12 ? m.d + e / 2 : m.d + e, half);
    for (unsigned l = 0; l < row_lanes; ++l)
        d[l] = high ? (d[l] & 0xffff) | r.lane[l] << 16 : (d[l] & 0xffff0000) | r.lane[l];
}

inline bool is_nan(Element e, u32 x) {
    return e == Element::f32 ? (x & 0x7fffffff) > 0x7f800000
                             : (x & 0x7fff) > (e == Element::f16 ? 0x7c00 : 0x7f80);
}

inline u32 changed(u32 x, u32 sign, const Matrix &m) { // C's modifiers
    if (is_nan(m.op.c, x) && choices().nan_modifiers == choice::nan_modifiers::ignored)
        return x; // S-025
    x = m.neg_hi[2] ? x & ~sign : x;
    return m.neg_lo[2] ? x ^ sign : x;
}

// D as accumulator: 16 columns of each row, in the order of registers and lanes.
struct Tile {
    alignas(64) u32 acc[side][side];
    unsigned row[side];
};

// Calls f(element, half, lane within the half, index in the tile) for every row of D.
template <class F> void for_rows(const Wave &w, F f) {
    unsigned index = 0;
    for (unsigned e = 0; e < elements(w); ++e)
        for (unsigned lane = 0; lane < row_lanes * w.halves; lane += side)
            f(e, lane / row_lanes, lane % row_lanes, index++);
}

inline Tile read_tile(Wave &w, const Matrix &m, bool wide) {
    Tile t;
    for_rows(w, [&](unsigned e, unsigned half, unsigned at, unsigned index) {
        t.row[index] = row_of(w, e, half * row_lanes + at);
        u32 *acc = t.acc[index];
        if (wide && m.c.kind == Source::vgpr)
            std::memcpy(acc, w.row(m.c.at + e, half) + at, sizeof t.acc[index]);
        else
            for (unsigned l = 0; l < side; ++l)
                acc[l] = wide ? m.c.value : read16(w, m, e, half, at + l);
    });
    return t;
}

inline void write_tile(Wave &w, const Matrix &m, bool wide, const Tile &t) {
    for_rows(w, [&](unsigned e, unsigned half, unsigned at, unsigned index) {
        if (wide)
            std::memcpy(w.row(m.d + e, half) + at, t.acc[index], sizeof t.acc[index]);
        else if (at == 0) { // this row of D and the next one are one row of lanes
            Row r;
            std::memcpy(r.lane, t.acc[index], sizeof r);
            write16(w, m, e, half, r);
        }
    });
}

// Matrix instructions round to nearest and keep subnormals in every MODE. Called by pointer, so
// that nothing moves out of the scope that sets the host's FPU.
using MatrixKernel = void (*)(Wave &, const Matrix &);
inline void run_nearest(Wave &w, const Matrix &m, MatrixKernel kernel) {
    MatrixKernel volatile run = kernel;
    if (w.mode.mxcsr32 == mxcsr_default)
        return run(w, m);
    MxcsrScope scope(mxcsr_default);
    run(w, m);
}

} // namespace nw::sim::NW_LEVEL

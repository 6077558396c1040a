// SPDX-License-Identifier: MIT
// Where the elements of a matrix instruction's operands are: lanes, registers and halves (2.53,
// 2.55). Compiled per host level.
#pragma once
#include "sim/func/lanes.h"
#include "sim/func/matrix.h"

namespace nw::sim::NW_LEVEL {

inline constexpr unsigned side = 16;     // rows of A and D, columns of B and D
inline constexpr unsigned max_words = 8; // dwords of one row of A: 16 halves

// Rows of A, or columns of B, as dwords in ascending k.
struct Factor {
    alignas(64) u32 word[max_words][side];
};

struct Place {
    unsigned reg, lane;
};

// Where dword `n` of row `row` is (2.53, 2.55). gfx11 holds whole rows in lanes 0-15 (and again in
// the others); gfx12 spreads k over the lanes, and a wave32 exchanges two of its bits.
inline Place place_of(const Wave &w, const MatrixOp &op, unsigned n, unsigned row) {
    if (!w.mode.gfx12)
        return {n, row};
    bool halves = op.a == Element::f16 || op.a == Element::bf16;
    if (halves && w.halves == 1)
        return {(n & 1) | (n >> 2 & 1) << 1, row + side * (n >> 1 & 1)};
    if (halves)
        return {n & 1, row + side * (n >> 1)};
    if (op.a == Element::iu4 && op.k == 16) // one dword, also in wave64's lower half only
        return {0, row + side * n};
    return w.halves == 1 ? Place{n & 1, row + side * (n >> 1)} : Place{0, row + side * n};
}

inline unsigned words_of(const MatrixOp &op) {
    return op.a == Element::iu4 ? op.k / 8u : op.a == Element::iu8 ? op.k / 4u : op.k / 2u;
}

inline Factor read(Wave &w, const MatrixOp &op, unsigned first, u32 flip) {
    Factor f;
    for (unsigned n = 0; n < words_of(op); ++n) {
        Place p = place_of(w, op, n, 0); // rows follow one another
        const u32 *from = w.row(first + p.reg, p.lane / row_lanes) + p.lane % row_lanes;
        std::memcpy(f.word[n], from, sizeof f.word[n]);
        if (flip)
            for (u32 &word : f.word[n])
                word ^= flip;
    }
    return f;
}

// Row of D in register v (of 32-bit elements), by lane of the wave.
inline unsigned row_of(const Wave &w, unsigned v, unsigned lane) {
    unsigned group = lane / side, groups = 2 * w.halves;
    return w.mode.gfx12 ? v + side / groups * group : groups * v + group;
}

// 32 lanes of dword n: A by the rows of D, B by its columns.
inline Row spread_a(const Wave &w, const Factor &a, unsigned n, unsigned v, unsigned half) {
    Row r;
    for (unsigned l = 0; l < row_lanes; ++l)
        r.lane[l] = a.word[n][row_of(w, v, l + half * row_lanes)];
    return r;
}
inline Row spread_b(const Factor &b, unsigned n) {
    Row r;
    for (unsigned l = 0; l < row_lanes; ++l)
        r.lane[l] = b.word[n][l % side];
    return r;
}

// ---- C and D

// Elements of C and D that one lane holds: 8 in wave32, 4 in wave64.
inline unsigned elements(const Wave &w) { return 8 / w.halves; }

struct Accumulators {
    Row element[8][2]; // [element of the lane][half of the wave]
};

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

inline u32 read32(Wave &w, const Matrix &m, unsigned e, unsigned half, unsigned l) {
    return m.c.kind == Source::vgpr ? w.row(m.c.at + e, half)[l] : m.c.value;
}

inline u32 changed(u32 x, u32 sign, const Matrix &m) { // C's modifiers
    x = m.neg_hi[2] ? x & ~sign : x;
    return m.neg_lo[2] ? x ^ sign : x;
}

// Matrix instructions round to nearest whatever MODE says. Called by pointer, so that nothing moves
// out of the scope that sets the host's FPU.
using MatrixKernel = void (*)(Wave &, const Matrix &);
inline void run_nearest(Wave &w, const Matrix &m, MatrixKernel kernel) {
    MatrixKernel volatile run = kernel;
    if (w.mode.round32 == round_nearest)
        return run(w, m);
    MxcsrScope scope(mxcsr_default);
    run(w, m);
}

} // namespace nw::sim::NW_LEVEL

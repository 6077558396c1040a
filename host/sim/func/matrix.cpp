// SPDX-License-Identifier: MIT
// WMMA. Every operand is read before anything is written; EXEC and MODE don't matter (2.54).
// Compiled once per host level.
#include "sim/func/matrix.h"

#include "sim/func/bit.h"
#include "sim/func/dot.h"
#include "sim/func/kernels.h"

namespace nw::sim::NW_LEVEL {

namespace {

constexpr unsigned side = 16;     // rows of A and D, columns of B and D
constexpr unsigned max_words = 8; // dwords of one row of A: 16 halves

// Rows of A, or columns of B, as dwords in ascending k.
struct Factor {
    u32 word[max_words][side];
};

struct Place {
    unsigned reg, lane;
};

// Where dword `n` of row `row` is (2.53, 2.55). gfx11 holds whole rows in lanes 0-15 (and again in
// the others); gfx12 spreads k over the lanes, and a wave32 exchanges two of its bits.
Place place_of(const Wave &w, const MatrixOp &op, unsigned n, unsigned row) {
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

unsigned words_of(const MatrixOp &op) {
    return op.a == Element::iu4 ? op.k / 8u : op.a == Element::iu8 ? op.k / 4u : op.k / 2u;
}

Factor read(Wave &w, const MatrixOp &op, unsigned first, u32 flip) {
    Factor f;
    for (unsigned n = 0; n < words_of(op); ++n)
        for (unsigned row = 0; row < side; ++row) {
            Place p = place_of(w, op, n, row);
            f.word[n][row] = w.row(first + p.reg, p.lane / row_lanes)[p.lane % row_lanes] ^ flip;
        }
    return f;
}

// Row of D in register v (of 32-bit elements), by lane of the wave.
unsigned row_of(const Wave &w, unsigned v, unsigned lane) {
    unsigned group = lane / side, groups = 2 * w.halves;
    return w.mode.gfx12 ? v + side / groups * group : groups * v + group;
}

// 32 lanes of dword n: A by the rows of D, B by its columns.
Row spread_a(const Wave &w, const Factor &a, unsigned n, unsigned v, unsigned half) {
    Row r;
    for (unsigned l = 0; l < row_lanes; ++l)
        r.lane[l] = a.word[n][row_of(w, v, l + half * row_lanes)];
    return r;
}
Row spread_b(const Factor &b, unsigned n) {
    Row r;
    for (unsigned l = 0; l < row_lanes; ++l)
        r.lane[l] = b.word[n][l % side];
    return r;
}

// ---- float: chained steps, each rounded to the type of D (2.53)
// -----------------------------------

template <class F>
void step32(const Wave &w, u32 *acc, const Factor &a, const Factor &b, unsigned n, unsigned v,
            unsigned half) {
    Row x = spread_a(w, a, n, v, half), y = spread_b(b, n);
    if (!w.mode.gfx12)
        return dot::run<F>(acc, x.lane, y.lane, acc, ~0u, w.mode);
    Row u = spread_a(w, a, n + 1, v, half), z = spread_b(b, n + 1);
    dot::run4<F>(acc, x.lane, u.lane, y.lane, z.lane, acc, w.mode);
}

template <class F>
void step16(const Wave &w, u32 *acc, const Factor &a, const Factor &b, unsigned n, unsigned v,
            unsigned half, dot::Out out) {
    unsigned words = w.mode.gfx12 ? 2 : 1;
    for (unsigned l = 0; l < row_lanes; ++l) {
        unsigned row = row_of(w, v, l + half * row_lanes), column = l % side;
        u32 x[2] = {a.word[n][row], a.word[(n + 1) % max_words][row]};
        u32 y[2] = {b.word[n][column], b.word[(n + 1) % max_words][column]};
        acc[l] = dot::exact<F>(x, y, words, acc[l], out, w.mode);
    }
}

// Elements of C and D that one lane holds: 8 in wave32, 4 in wave64.
unsigned elements(const Wave &w) { return 8 / w.halves; }

struct Accumulators {
    Row element[8][2]; // [element of the lane][half of the wave]
};

// 16-bit elements: gfx11 has one per register, in the half that op_sel names; gfx12 two.
u32 read16(Wave &w, const Matrix &m, unsigned e, unsigned half, unsigned l) {
    if (m.c.kind != Source::vgpr)
        return m.c.value & 0xffff;
    if (w.mode.gfx12)
        return w.row(m.c.at + e / 2, half)[l] >> 16 * (e & 1) & 0xffff;
    return w.row(m.c.at + e, half)[l] >> (m.high_half ? 16 : 0) & 0xffff;
}

void write16(Wave &w, const Matrix &m, unsigned e, unsigned half, const Row &r) {
    bool high = w.mode.gfx12 ? e & 1 : m.high_half;
    u32 *d = w.row(w.mode.gfx12 ? m.d + e / 2 : m.d + e, half);
    for (unsigned l = 0; l < row_lanes; ++l)
        d[l] = high ? (d[l] & 0xffff) | r.lane[l] << 16 : (d[l] & 0xffff0000) | r.lane[l];
}

u32 read32(Wave &w, const Matrix &m, unsigned e, unsigned half, unsigned l) {
    return m.c.kind == Source::vgpr ? w.row(m.c.at + e, half)[l] : m.c.value;
}

u32 changed(u32 x, u32 sign, const Matrix &m) { // C's modifiers
    x = m.neg_hi[2] ? x & ~sign : x;
    return m.neg_lo[2] ? x ^ sign : x;
}

template <class F> void multiply(Wave &w, const Matrix &m) {
    auto flip = [&](unsigned n) {
        return (m.neg_lo[n] ? 0x8000u : 0) | (m.neg_hi[n] ? 0x80000000u : 0);
    };
    Factor a = read(w, m.op, m.a, flip(0)), b = read(w, m.op, m.b, flip(1));
    bool wide = m.op.c == Element::f32;
    dot::Out out = m.op.c == Element::f16 ? dot::Out::f16 : dot::Out::bf16;
    Accumulators acc;
    for (unsigned e = 0; e < elements(w); ++e)
        for (unsigned half = 0; half < w.halves; ++half) {
            u32 *lane = acc.element[e][half].lane;
            for (unsigned l = 0; l < row_lanes; ++l)
                lane[l] = wide ? changed(read32(w, m, e, half, l), 0x80000000, m)
                               : changed(read16(w, m, e, half, l), 0x8000, m);
            for (unsigned n = 0; n < words_of(m.op); n += w.mode.gfx12 ? 2 : 1)
                if (wide)
                    step32<F>(w, lane, a, b, n, e, half);
                else
                    step16<F>(w, lane, a, b, n, e, half, out);
        }
    for (unsigned e = 0; e < elements(w); ++e)
        for (unsigned half = 0; half < w.halves; ++half) {
            if (wide)
                blend(w.row(m.d + e, half), acc.element[e][half].lane, ~0u, 1);
            else
                write16(w, m, e, half, acc.element[e][half]);
        }
}

// ---- integers: exact sums, wrapped or saturated (2.56)
// ---------------------------------------------

template <unsigned Bits> i32 dot_words(u32 x, u32 y, bool signed_x, bool signed_y) {
    auto element = [](u32 v, unsigned at, bool is_signed) {
        u32 raised = v << (32 - Bits - at);
        return is_signed ? static_cast<i32>(raised) >> (32 - Bits)
                         : static_cast<i32>(raised >> (32 - Bits));
    };
    i32 sum = 0;
    for (unsigned at = 0; at < 32; at += Bits)
        sum += element(x, at, signed_x) * element(y, at, signed_y);
    return sum;
}

template <unsigned Bits> void multiply_int(Wave &w, const Matrix &m) {
    Factor a = read(w, m.op, m.a, 0), b = read(w, m.op, m.b, 0);
    Accumulators acc;
    for (unsigned e = 0; e < elements(w); ++e)
        for (unsigned half = 0; half < w.halves; ++half) {
            i64 sum[row_lanes];
            for (unsigned l = 0; l < row_lanes; ++l)
                sum[l] = static_cast<i32>(read32(w, m, e, half, l));
            for (unsigned n = 0; n < words_of(m.op); ++n) {
                Row x = spread_a(w, a, n, e, half), y = spread_b(b, n);
                for (unsigned l = 0; l < row_lanes; ++l)
                    sum[l] += dot_words<Bits>(x.lane[l], y.lane[l], m.neg_lo[0], m.neg_lo[1]);
            }
            for (unsigned l = 0; l < row_lanes; ++l)
                acc.element[e][half].lane[l] = static_cast<u32>(
                    m.clamp ? bit::clamp(sum[l], i64{-0x80000000ll}, i64{0x7fffffff}) : sum[l]);
        }
    for (unsigned e = 0; e < elements(w); ++e)
        for (unsigned half = 0; half < w.halves; ++half)
            blend(w.row(m.d + e, half), acc.element[e][half].lane, ~0u, 1);
}

// Kernels run by function pointer: the host's FPU is set before.
void run_matrix(Wave &w, const Inst &i) {
    const Matrix &m = *i.matrix;
    void (*volatile run)(Wave &, const Matrix &) = m.op.a == Element::f16    ? multiply<dot::F16>
                                                   : m.op.a == Element::bf16 ? multiply<dot::BF16>
                                                   : m.op.a == Element::iu8  ? multiply_int<8>
                                                                             : multiply_int<4>;
    if (w.mode.round32 == round_nearest)
        return run(w, m);
    MxcsrScope scope(mxcsr_default);
    run(w, m);
}

} // namespace

void fill_matrix(Frames &f) { f.matrix = run_matrix; }

} // namespace nw::sim::NW_LEVEL

// SPDX-License-Identifier: MIT
// WMMA of f16, bf16 and integers. Every operand is read before anything is written; EXEC and MODE
// don't matter (2.54). Compiled once per host level.
#include "sim/func/bit.h"
#include "sim/func/dot.h"
#include "sim/func/kernels.h"
#include "sim/func/matrix_operands.h"

namespace nw::sim::NW_LEVEL {

namespace {

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

void run_matrix(Wave &w, const Inst &i) {
    const Matrix &m = *i.matrix;
    run_nearest(w, m,
                m.op.a == Element::f16    ? multiply<dot::F16>
                : m.op.a == Element::bf16 ? multiply<dot::BF16>
                : m.op.a == Element::iu8  ? multiply_int<8>
                                          : multiply_int<4>);
}

} // namespace

void fill_matrix(Frames &f) { f.matrix = run_matrix; }

} // namespace nw::sim::NW_LEVEL

// SPDX-License-Identifier: MIT
// WMMA of FP8 and BF8 (S-022). Compiled once per host level.
#include "sim/func/alu/fp8_dot.h"
#include "sim/func/alu/kernels.h"
#include "sim/func/alu/matrix_operands.h"

namespace nw::sim::NW_LEVEL {

namespace {

template <class A, class B> void multiply(Wave &w, const Matrix &m) {
    const Factor a = read(w, m.op, m.a, 0), b = read(w, m.op, m.b, 0);
    const unsigned words = words_of(m.op);
    Tile t = read_tile(w, m, true);
    for (auto &acc : t.acc)
        for (u32 &x : acc)
            x = changed(x, 0x80000000, m);
    for (unsigned i = 0; i < side; i += 2) { // two rows of D are one row of lanes
        Row x[max_words], y[max_words];
        for (unsigned n = 0; n < words; ++n)
            for (unsigned l = 0; l < row_lanes; ++l) {
                x[n].lane[l] = a.word[n][t.row[i + l / side]];
                y[n].lane[l] = b.word[n][l % side];
            }
        fp8::accumulate<A, B>(t.acc[i], x, y, words, fp8::matrix_adding());
    }
    write_tile(w, m, true, t);
}

void run_matrix_fp8(Wave &w, const Inst &i) {
    const Matrix &m = *i.matrix;
    using fp8::E4M3, fp8::E5M2;
    bool a = m.op.a == Element::fp8, b = m.op.b == Element::fp8;
    run_nearest(w, m,
                a ? (b ? multiply<E4M3, E4M3> : multiply<E4M3, E5M2>)
                  : (b ? multiply<E5M2, E4M3> : multiply<E5M2, E5M2>));
}

} // namespace

void fill_matrix_fp8(Frames &f) { f.matrix_fp8 = run_matrix_fp8; }

} // namespace nw::sim::NW_LEVEL

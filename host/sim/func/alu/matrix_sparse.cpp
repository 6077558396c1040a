// SPDX-License-Identifier: MIT
// SWMMAC (2.58): of each four k, A stores two elements, selected by an index. D += A * B. Compiled
// once per host level.
#include "sim/func/alu/bit.h"
#include "sim/func/alu/dot.h"
#include "sim/func/alu/fp8_dot.h"
#include "sim/func/alu/kernels.h"
#include "sim/func/alu/matrix_operands.h"

namespace nw::sim::NW_LEVEL {

namespace {

constexpr unsigned max_k = 64, max_stored = max_k / 2, max_dwords = 16;

struct Fragments {
    u32 a[max_dwords][side], b[max_dwords][side];
    u8 k[side][max_stored]; // of each row of A: the k of its stored elements
};

// Four bits for each group of four k, two per element, in the lanes that hold that part of A. A
// wave64 has the upper half of a wave32's bits in lanes 32-63.
u32 index_of(Wave &w, const Matrix &m, unsigned row, unsigned group) {
    const unsigned in_lane = m.op.k / 4 / 2;
    const bool halves = has_halves(m.op.a);
    unsigned at = halves ? group % 2 + group / 4 * 2 : group % in_lane;
    unsigned lanes = halves ? group / 2 % 2 : group / in_lane, bits = 4 * in_lane;
    if (w.halves == 2 && words_of(m.op.a, m.op.k / 2) > 2) {
        bits /= 2;
        lanes += at >= in_lane / 2 ? 2 : 0;
        at %= in_lane / 2;
    }
    const unsigned lane = row + side * lanes;
    return w.row(m.index, lane / row_lanes)[lane % row_lanes] >> (bits * m.index_key + 4 * at) & 15;
}

Fragments read_fragments(Wave &w, const Matrix &m, u32 flip_a) {
    Fragments o;
    read_words(w, m.op.a, words_of(m.op.a, m.op.k / 2), m.a, flip_a, o.a);
    read_words(w, m.op.b, words_of(m.op.b, m.op.k), m.b, 0, o.b);
    for (unsigned row = 0; row < side; ++row)
        for (unsigned group = 0; group < m.op.k / 4; ++group) {
            const u32 index = index_of(w, m, row, group);
            o.k[row][2 * group] = static_cast<u8>(4 * group + (index & 3));
            o.k[row][2 * group + 1] = static_cast<u8>(4 * group + (index >> 2));
        }
    return o;
}

u32 element(const u32 (*words)[side], unsigned bits, unsigned n, unsigned row) {
    return words[n * bits / 32][row] >> n * bits % 32 & ((1u << bits) - 1);
}

// ---- float: the steps of dense matrices ---------------------------------------------------------

// Two rows of D as lanes: matching factors, in the order of addition.
struct Terms {
    Row a[max_dwords] = {}, b[max_dwords] = {};
    unsigned words = 0;
};

Terms terms(const Fragments &o, const MatrixOp &op, const unsigned *rows) {
    const unsigned bits = bits_of(op.a), stored = op.k / 2;
    const bool logical = choices().swmmac_order == choice::swmmac_order::logical;
    Terms t;
    t.words = words_of(op.a, logical ? op.k : stored);
    for (unsigned l = 0; l < row_lanes; ++l) {
        const unsigned row = rows[l / side];
        for (unsigned n = 0; n < stored; ++n) {
            const unsigned k = o.k[row][n];
            // Both elements of a group may name the same k; the second then uses the next position.
            const bool taken = n % 2 && k == o.k[row][n - 1];
            const unsigned place = logical ? k ^ (taken ? 1 : 0) : n;
            const unsigned up = place * bits % 32, word = place * bits / 32;
            t.a[word].lane[l] |= element(o.a, bits, n, row) << up;
            t.b[word].lane[l] |= element(o.b, bits, k, l % side) << up;
        }
    }
    return t;
}

u32 flip(const Matrix &m, unsigned n) {
    return (m.neg_lo[n] ? 0x8000u : 0) | (m.neg_hi[n] ? 0x80000000u : 0);
}

// Signs of B apply after selection by A's index: neg_lo to the first of each stored pair.
template <class F> void multiply_halves(Wave &w, const Matrix &m) {
    const Fragments o = read_fragments(w, m, flip(m, 0));
    const bool wide = m.op.c == Element::f32;
    const dot::Out out = wide                     ? dot::Out::f32
                         : m.op.c == Element::f16 ? dot::Out::f16
                                                  : dot::Out::bf16;
    Tile t = read_tile(w, m, wide);
    for (unsigned i = 0; i < side; i += 2) {
        Terms x = terms(o, m.op, &t.row[i]);
        for (unsigned n = 0; n < x.words; ++n)
            for (u32 &b : x.b[n].lane)
                b ^= flip(m, 1);
        for (unsigned n = 0; n < x.words; n += 2)
            dot::book<F>(t.acc[i],
                         {{x.a[n].lane, x.a[n + 1].lane}, {x.b[n].lane, x.b[n + 1].lane}, 2},
                         t.acc[i], out, w.mode);
    }
    write_tile(w, m, wide, t);
}

template <class A, class B> void multiply_fp8(Wave &w, const Matrix &m) {
    const Fragments o = read_fragments(w, m, 0);
    Tile t = read_tile(w, m, true);
    for (unsigned i = 0; i < side; i += 2) {
        const Terms x = terms(o, m.op, &t.row[i]);
        fp8::accumulate<A, B>(t.acc[i], x.a, x.b, x.words, fp8::matrix_adding());
    }
    write_tile(w, m, true, t);
}

// ---- integers: exact sums, wrapped or saturated (2.56, S-027) -----------------------------------

i32 integer(u32 raw, unsigned bits, bool is_signed) {
    const u32 raised = raw << (32 - bits);
    return is_signed ? static_cast<i32>(raised) >> (32 - bits)
                     : static_cast<i32>(raised >> (32 - bits));
}

i64 saturate(i64 x) { return bit::clamp(x, i64{-0x80000000ll}, i64{0x7fffffff}); }

template <unsigned Bits> void multiply_int(Wave &w, const Matrix &m) {
    const Fragments o = read_fragments(w, m, 0);
    const bool staged = choices().matrix_clamp == choice::matrix_clamp::staged;
    Tile t = read_tile(w, m, true);
    for (unsigned i = 0; i < side; ++i)
        for (unsigned l = 0; l < side; ++l) {
            const unsigned row = t.row[i];
            i64 sum[2] = {};
            for (unsigned n = 0; n < m.op.k / 2; ++n) {
                const u32 a = element(o.a, Bits, n, row), b = element(o.b, Bits, o.k[row][n], l);
                sum[n / 8 % 2] += integer(a, Bits, m.neg_lo[0]) * integer(b, Bits, m.neg_lo[1]);
            }
            i64 total = static_cast<i32>(t.acc[i][l]) + sum[0];
            total = (m.clamp && staged ? saturate(total) : total) + sum[1];
            t.acc[i][l] = static_cast<u32>(m.clamp ? saturate(total) : total);
        }
    write_tile(w, m, true, t);
}

MatrixKernel kernel_of(const MatrixOp &op) {
    using fp8::E4M3, fp8::E5M2;
    const bool b = op.b == Element::fp8;
    switch (op.a) {
    case Element::f16:
        return multiply_halves<dot::F16>;
    case Element::bf16:
        return multiply_halves<dot::BF16>;
    case Element::fp8:
        return b ? multiply_fp8<E4M3, E4M3> : multiply_fp8<E4M3, E5M2>;
    case Element::bf8:
        return b ? multiply_fp8<E5M2, E4M3> : multiply_fp8<E5M2, E5M2>;
    case Element::iu8:
        return multiply_int<8>;
    default:
        return multiply_int<4>;
    }
}

void run_matrix_sparse(Wave &w, const Inst &i) {
    run_nearest(w, *i.matrix, kernel_of(i.matrix->op));
}

} // namespace

void fill_matrix_sparse(Frames &f) { f.matrix_sparse = run_matrix_sparse; }

} // namespace nw::sim::NW_LEVEL

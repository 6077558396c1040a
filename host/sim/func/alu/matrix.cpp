// SPDX-License-Identifier: MIT
// WMMA of f16, bf16 and integers. All operands are read before any result is written; EXEC and MODE
// are ignored (2.54). Compiled once per host level.
#include <vector>

#include "sim/func/alu/dot.h"
#include "sim/func/alu/host_simd.h"
#include "sim/func/alu/kernels.h"
#include "sim/func/alu/matrix_operands.h"
#include "sim/func/alu/matrix_tame.h"

namespace nw::sim::NW_LEVEL {

namespace {

// ---- float: chained steps, each rounded to the type of D (2.53)
// -----------------------------------

bool has_wild_addend(const Tile &t) {
    u32 wild = 0;
    for (const auto &acc : t.acc)
        for (unsigned l = 0; l < side; ++l)
            wild |= dot::wild_addend_bit(acc[l]);
    return wild;
}

// The steps of one row depend on each other: rows are the inner loop, so that they overlap.
template <unsigned PerStep, class Step> void chain(Tile &t, unsigned k, Step step) {
    for (unsigned n = 0; n < k; n += PerStep)
        for (unsigned i = 0; i < side; ++i)
            step(t.acc[i], t.row[i], n);
}

// Tameness is tested once: tame steps stay in the range that tame steps can add. A result is at
// least 2^-24 of a product (2^-62 or more) or 2^-26 of C (2^-60 or more), and at most their sum.
template <class F>
bool multiply_tame(const Mode &mode, unsigned words, const Factor &a, const Factor &b, Tile &t) {
    if (dot::is_wild<F>(a, words) || dot::is_wild<F>(b, words) || has_wild_addend(t))
        return false;
    dot::Terms x, y;
    dot::decompose<F>(a, words, dot::share_a, x);
    dot::decompose<F>(b, words, dot::share_b, y);
    if (mode.gfx12)
        chain<4>(t, 2 * words, [&](u32 *acc, unsigned row, unsigned k) {
            dot::tame_step_gfx12(acc, x, row, y, k);
        });
    else
        chain<2>(t, 2 * words, [&](u32 *acc, unsigned row, unsigned k) {
            dot::tame_step_gfx11(acc, x, row, y, k);
        });
    return true;
}

template <class F> void multiply_fast(unsigned words, const Factor &a, const Factor &b, Tile &t) {
    dot::Terms x, y;
    dot::values<F>(a, words, x);
    dot::values<F>(b, words, y);
    chain<2>(t, 2 * words,
             [&](u32 *acc, unsigned row, unsigned k) { dot::fast_step(acc, x, row, y, k); });
}

// Word n of A for two rows of the tile, or of B for both.
Row spread(const Factor &f, unsigned n, const unsigned *row) {
    Row r;
    for (unsigned l = 0; l < row_lanes; ++l)
        r.lane[l] = f.word[n][row ? row[l / side] : l % side];
    return r;
}

template <class F>
void multiply_any(const Mode &mode, unsigned words, const Factor &a, const Factor &b, dot::Out out,
                  Tile &t) {
    unsigned step = mode.gfx12 ? 2 : 1;
    for (unsigned n = 0; n < words; n += step) {
        Row y[2] = {spread(b, n, nullptr), spread(b, n + step - 1, nullptr)};
        for (unsigned i = 0; i < side; i += 2) {
            Row x[2] = {spread(a, n, &t.row[i]), spread(a, n + step - 1, &t.row[i])};
            dot::book<F>(t.acc[i], {{x[0].lane, x[1].lane}, {y[0].lane, y[1].lane}, step}, t.acc[i],
                         out, mode);
        }
    }
}

void change_addend(Tile &t, const Matrix &m, u32 sign) {
    for (auto &acc : t.acc)
        for (unsigned l = 0; l < side; ++l)
            acc[l] = changed(acc[l], sign, m);
}

// S-026: C of BF16 matrices on gfx12.
void flush_addend(Tile &t, bool wide) {
    const u32 exponent = wide ? 0x7f800000 : 0x7f80, sign = wide ? 0x80000000 : 0x8000;
    for (auto &acc : t.acc)
        for (u32 &x : acc)
            x = x & exponent ? x : x & sign;
}

template <class F> void multiply(Wave &w, const Matrix &m) {
    auto flip = [&](unsigned n) {
        return (m.neg_lo[n] ? 0x8000u : 0) | (m.neg_hi[n] ? 0x80000000u : 0);
    };
    Factor a = read(w, m.op, m.a, flip(0)), b = read(w, m.op, m.b, flip(1));
    unsigned words = words_of(m.op);
    bool wide = m.op.c == Element::f32;
    Tile t = read_tile(w, m, wide);
    if (m.neg_lo[2] || m.neg_hi[2])
        change_addend(t, m, wide ? 0x80000000 : 0x8000);
    if (w.mode.gfx12 && m.op.a == Element::bf16 &&
        choices().bf16_subnormal_c == choice::bf16_subnormal_c::flushed)
        flush_addend(t, wide);
    if (!wide)
        multiply_any<F>(w.mode, words, a, b,
                        m.op.c == Element::f16 ? dot::Out::f16 : dot::Out::bf16, t);
    else if (w.mode.fast)
        multiply_fast<F>(words, a, b, t);
    else if (!multiply_tame<F>(w.mode, words, a, b, t))
        multiply_any<F>(w.mode, words, a, b, dot::Out::f32, t);
    write_tile(w, m, wide, t);
}

// ---- integers: exact sums, wrapped or saturated (2.56)
// ---------------------------------------------

// Elements of one operand as pairs of i16, low half first, in ascending k: the operands of the
// host's multiply-add instruction.
struct Pairs {
    alignas(64) u32 word[2 * max_words][side];
};

template <unsigned Bits, bool Signed> u32 element(u32 word, unsigned at) {
    u32 raised = word << (32 - Bits - at);
    return Signed ? static_cast<u32>(static_cast<i32>(raised) >> (32 - Bits))
                  : raised >> (32 - Bits);
}

template <unsigned Bits, bool Signed> void widen(const Factor &f, unsigned words, Pairs &p) {
    constexpr unsigned per_word = 16 / Bits;
    for (unsigned n = 0; n < words; ++n)
        for (unsigned i = 0; i < per_word; ++i)
#pragma GCC ivdep
            for (unsigned l = 0; l < side; ++l) {
                u32 word = f.word[n][l];
                p.word[per_word * n + i][l] = (element<Bits, Signed>(word, 2 * Bits * i) & 0xffff) |
                                              element<Bits, Signed>(word, 2 * Bits * i + Bits)
                                                  << 16;
            }
}

template <unsigned Bits> void widen(const Factor &f, unsigned words, bool is_signed, Pairs &p) {
    return is_signed ? widen<Bits, true>(f, words, p) : widen<Bits, false>(f, words, p);
}

inline i32 low_half(u32 x) { return static_cast<i16>(x); }
inline i32 high_half(u32 x) { return static_cast<i32>(x) >> 16; }

// sum += x.low * y.low + x.high * y.high in 16 columns
inline void add_products(u32 *sum, u32 x, const u32 *y) {
#if defined(__AVX512BW__)
    __m512i p = _mm512_madd_epi16(_mm512_set1_epi32(static_cast<int>(x)), _mm512_load_si512(y));
    _mm512_store_si512(sum, _mm512_add_epi32(_mm512_load_si512(sum), p));
#else
    const i32 low = low_half(x), high = high_half(x);
#pragma GCC ivdep
    for (unsigned l = 0; l < side; ++l)
        sum[l] += static_cast<u32>(low * low_half(y[l]) + high * high_half(y[l]));
#endif
}

// The products of a row fit in an i32; only adding C can overflow.
inline u32 add_saturated(u32 c, u32 sum) {
    u32 r = c + sum, limit = 0x7fffffff + (c >> 31);
    return static_cast<i32>(~(c ^ sum) & (c ^ r)) < 0 ? limit : r;
}

enum class Clamp : u8 { off, once, staged };

void multiply_row(u32 *acc, const Pairs &a, unsigned row, const Pairs &b, unsigned pairs,
                  Clamp clamp) {
    alignas(64) u32 sum[2][side] = {};
    for (unsigned n = 0; n < pairs; ++n) // S-027: eight k each to the first stage and the second
        add_products(sum[clamp == Clamp::staged ? n / 4 % 2 : 0], a.word[n][row], b.word[n]);
    if (clamp == Clamp::off)
#pragma GCC ivdep
        for (unsigned l = 0; l < side; ++l)
            acc[l] += sum[0][l];
    else
        for (const auto &stage : sum)
#pragma GCC ivdep
            for (unsigned l = 0; l < side; ++l)
                acc[l] = add_saturated(acc[l], stage[l]);
}

template <unsigned Bits> void multiply_int(Wave &w, const Matrix &m) {
    Pairs a, b;
    unsigned words = words_of(m.op);
    widen<Bits>(read(w, m.op, m.a, 0), words, m.neg_lo[0], a);
    widen<Bits>(read(w, m.op, m.b, 0), words, m.neg_lo[1], b);
    Tile t = read_tile(w, m, true);
    const bool staged = w.mode.gfx12 && choices().matrix_clamp == choice::matrix_clamp::staged;
    const Clamp clamp = !m.clamp ? Clamp::off : staged ? Clamp::staged : Clamp::once;
    for (unsigned i = 0; i < side; ++i)
        multiply_row(t.acc[i], a, t.row[i], b, 16 / Bits * words, clamp);
    write_tile(w, m, true, t);
}

void run_kernel(Wave &w, const Matrix &m) {
    run_nearest(w, m,
                m.op.a == Element::f16    ? multiply<dot::F16>
                : m.op.a == Element::bf16 ? multiply<dot::BF16>
                : m.op.a == Element::iu8  ? multiply_int<8>
                                          : multiply_int<4>);
}

// S-024: each group of 16 lanes multiplies its own copies of A and B. Computes the whole product
// once per copy, moved to lanes 0-15, and keeps that group's part.
void run_own_copies(Wave &w, const Matrix &m) {
    const unsigned factors = words_of(m.op), results = elements(w);
    const std::vector<Row> before(w.v, w.v + vgpr_count * w.halves);
    std::vector<Row> product, after = before;
    Wave view = w;
    for (unsigned lane = 0; lane < row_lanes * w.halves; lane += side) {
        const size_t half = lane / row_lanes * vgpr_count;
        const unsigned at = lane % row_lanes;
        product = before;
        for (unsigned first : {unsigned{m.a}, unsigned{m.b}})
            for (unsigned n = first; n < first + factors; ++n)
                std::memcpy(product[n].lane, before[half + n].lane + at, side * sizeof(u32));
        view.v = product.data();
        run_kernel(view, m);
        for (unsigned n = m.d; n < m.d + results; ++n)
            std::memcpy(after[half + n].lane + at, product[half + n].lane + at, side * sizeof(u32));
    }
    std::memcpy(w.v, after.data(), after.size() * sizeof(Row));
}

void run_matrix(Wave &w, const Inst &i) {
    if (!w.mode.gfx12 && choices().wmma_copies == choice::wmma_copies::own)
        return run_own_copies(w, *i.matrix);
    run_kernel(w, *i.matrix);
}

} // namespace

void fill_matrix(Frames &f) { f.matrix = run_matrix; }

} // namespace nw::sim::NW_LEVEL

// SPDX-License-Identifier: MIT
// Matrix instructions.
#include <algorithm>
#include <fmt/format.h>

#include "sim/func/executable/build.h"

namespace nw::sim {

namespace {

constexpr MatrixOp table[] = {
#define WMMA(mn, a, b, c, k) {#mn, Element::a, Element::b, Element::c, k},
#define SWMMAC(mn, a, b, c, k) {#mn, Element::a, Element::b, Element::c, k, true},
#include "sim/isa/tables/wmma.inc"
#undef WMMA
#undef SWMMAC
};

bool listed(const Operation &op, std::string_view name, size_t n) {
    const Modifier *m = op.modifier(name);
    return m && n < m->values.size() && m->values[n];
}

} // namespace

const MatrixOp *find_matrix_op(std::string_view mnemonic) {
    auto it = std::find_if(std::begin(table), std::end(table),
                           [&](const MatrixOp &m) { return m.name == mnemonic; });
    return it == std::end(table) ? nullptr : it;
}

// d, a, b, c: c may be a constant, which 16-bit types replicate to both halves (2.57). Sparse ones
// have the index in c's place.
void Builder::matrix(Inst &i, const Operation &op, const MatrixOp &row) {
    Matrix m;
    m.op = row;
    const Operand &d = operand(op, 0), &a = operand(op, 1), &b = operand(op, 2),
                  &c = operand(op, 3);
    m.d = vgpr(d, d.count);
    m.a = vgpr(a, a.count);
    m.b = vgpr(b, b.count);
    if (row.sparse) {
        m.c.kind = Source::vgpr;
        m.c.at = m.d;
        m.index = vgpr(c, 1);
        m.index_key = static_cast<u8>(op.value("index_key", 0));
    } else if (c.kind == Operand::Kind::vgpr) {
        m.c.kind = Source::vgpr;
        m.c.at = vgpr(c, c.count);
    } else {
        Type type = row.c == Element::f16    ? Type::f16
                    : row.c == Element::bf16 ? Type::bf16
                    : row.c == Element::f32  ? Type::f32
                                             : Type::i32;
        m.c = source(c, type);
        if (m.c.kind != Source::constant)
            throw Unsupported{fmt::format("operand '{}' as C", c.text)};
    }
    for (size_t n = 0; n < 3; ++n) {
        m.neg_lo[n] = listed(op, "neg_lo", n);
        m.neg_hi[n] = listed(op, "neg_hi", n);
    }
    m.high_half = listed(op, "op_sel", 2);
    m.clamp = op.has("clamp");
    i.matrix = &e_.matrices.emplace_back(m);
    bool fp8 = row.a == Element::fp8 || row.a == Element::bf8;
    i.run = row.sparse ? frames_.matrix_sparse : fp8 ? frames_.matrix_fp8 : frames_.matrix;
}

} // namespace nw::sim

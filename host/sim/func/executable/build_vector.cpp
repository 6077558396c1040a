// SPDX-License-Identifier: MIT
// Vector instructions: sources, modifiers, DPP, VOPD.
#include <algorithm>
#include <fmt/format.h>

#include "sim/func/choices.h"
#include "sim/func/executable/build.h"

namespace nw::sim {

i64 element(const Operation &op, std::string_view name, size_t n, i64 otherwise) {
    const Modifier *m = op.modifier(name);
    return m && n < m->values.size() ? m->values[n] : otherwise;
}

namespace {

bool is_packed(Type t) { return t == Type::pk16 || t == Type::pkf16 || t == Type::pkbf16; }

Type source_type(const OpInfo &row, unsigned n) { return n == 0 ? row.a : n == 1 ? row.b : row.c; }

// fma_mix prints op_sel_hi only where it is set; packed operations where it is not (0.4).
void select(const Operation &op, const Operand &o, unsigned n, Extra::Source &s) {
    s.neg = o.neg || element(op, "neg_lo", n, 0);
    s.abs = o.abs;
    if (is_packed(s.type)) {
        s.op_sel = element(op, "op_sel", n, 0) != 0;
        s.op_sel_hi = element(op, "op_sel_hi", n, 1) != 0;
        s.neg_hi = element(op, "neg_hi", n, 0) != 0;
    } else if (s.type == Type::mix) {
        s.f16 = element(op, "op_sel_hi", n, 0) != 0;
        s.high = element(op, "op_sel", n, 0) != 0;
        s.abs |= element(op, "neg_hi", n, 0) != 0;
    } else if (is_half(s.type)) {
        // Text shows the half twice in VOP3 (0.3): the suffix where there is one.
        s.high = o.half == Operand::Half::none ? element(op, "op_sel", n, 0) != 0
                                               : o.half == Operand::Half::high;
    } else {
        s.abs |= element(op, "neg_hi", n, 0) != 0; // src2 of a DOT
    }
}

// "BYTE_2", "WORD_1", "DWORD"
Piece piece_of(std::string_view text) {
    const bool byte = text.starts_with("BYTE_"), word = text.starts_with("WORD_");
    if (!byte && !word)
        return {};
    const u8 bits = byte ? 8 : 16;
    return {static_cast<u8>((text.back() - '0') * bits), bits};
}

// SDWA
void select_piece(const Operation &op, const Operand &o, unsigned n, Extra::Source &s) {
    const Modifier *m = op.modifier(n == 0 ? "src0_sel" : "src1_sel");
    if (!m || n > 1)
        return;
    s.piece = piece_of(m->text);
    s.piece.is_signed = o.sext;
}

bool is_plain(const Extra::Source &s) {
    bool whole = !is_packed(s.type) || (s.op_sel == 0 && s.op_sel_hi == 1);
    return whole && s.piece.bits == 32 && !s.neg && !s.neg_hi && !s.abs && !s.high && !s.byte &&
           s.quad < 0 && s.type != Type::mix;
}

// v_interp: of each four lanes, the second holds P10, the third P20, the first P0. The f16 forms
// print no op_sel_hi: P10, P20 and P0 are halves, the accumulator is f32.
void interpolate(const Operation &op, unsigned n, Extra::Source &s) {
    bool p10 = op.mnemonic.starts_with("v_interp_p10");
    if (n == 0)
        s.quad = p10 ? 1 : 2;
    else if (n == 2 && p10)
        s.quad = 0;
    if (s.type != Type::mix)
        return;
    const Operand &o = op.operands[n + 1];
    s.f16 = s.quad >= 0;
    s.high = s.f16 && (o.half == Operand::Half::none ? element(op, "op_sel", n, 0) != 0
                                                     : o.half == Operand::Half::high);
}

// S-049: inline float constants whose bits the sources disagree on.
std::optional<u32> chosen_constant(std::optional<f32> value, Op row, Type type) {
    const bool packed = type == Type::pk16, plain = type == Type::u16 || type == Type::i16;
    const bool dot2 = info(row).name.starts_with("v_dot2") && is_packed(type);
    if (!value || !(packed || plain || dot2))
        return {};
    Operand o;
    o.kind = Operand::Kind::real;
    o.real = *value;
    auto as = [&](Type t) { return static_cast<u32>(constant_bits(o, t, false)); };
    if (dot2) {
        using choice::dot2_inline;
        if (choices().dot2_inline == dot2_inline::text && row == Op::v_dot2_f32_f16)
            return as(Type::f32);
        return as(type) * (choices().dot2_inline == dot2_inline::low ? 1 : 0x10001);
    }
    using choice::int16_inline;
    const int16_inline how = choices().int16_inline;
    bool f32_bits = how == int16_inline::f32 || (how == int16_inline::llvm && packed);
    return as(f32_bits ? Type::f32 : Type::f16);
}

bool reads_scalars(const Inst &i) {
    return std::any_of(std::begin(i.src), std::end(i.src), [](const Source &s) {
        return s.kind == Source::sgpr || s.kind == Source::mask;
    });
}

bool only_permutes(const Extra &e) {
    return e.dpp.kind != Dpp::none && !e.dst_high && !e.clamp && !e.omod &&
           std::all_of(std::begin(e.src), std::end(e.src), is_plain);
}

constexpr std::string_view dpp_names[] = {"quad_perm",       "row_shl",    "row_shr",
                                          "row_ror",         "row_mirror", "row_share",
                                          "row_half_mirror", "row_xmask"};

int source_lane(std::string_view name, const Modifier &m, int l) {
    int row = l & 16, i = l & 15, n = m.values.empty() ? 0 : static_cast<int>(m.values[0]);
    if (name == "quad_perm")
        return (l & ~3) | static_cast<int>(m.values.at(static_cast<size_t>(l & 3)) & 3);
    if (name == "row_shl")
        return i + n < 16 ? row | (i + n) : -1;
    if (name == "row_shr")
        return i - n >= 0 ? row | (i - n) : -1;
    if (name == "row_ror")
        return row | ((i - n) & 15);
    if (name == "row_mirror")
        return row | (15 - i);
    if (name == "row_half_mirror")
        return row | (i & 8) | (7 - (i & 7));
    if (name == "row_share")
        return row | (n & 15);
    return row | (i ^ (n & 15)); // row_xmask
}

// 3.14: a bit of row_mask for each 16 lanes of the wave, one of bank_mask for each 4 of a row.
void place(Dpp &d, i64 row_mask, i64 bank_mask) {
    for (unsigned l = 0; l < 2 * row_lanes; ++l)
        if (!(row_mask >> l / 16 & 1) || !(bank_mask >> l % 16 / 4 & 1))
            d.placed[l / row_lanes] &= ~(1u << l % row_lanes);
}

} // namespace

void Builder::dpp(const Operation &op, Extra &extra, bool &needed) {
    if (!op.dpp)
        return;
    needed = true;
    Dpp &d = extra.dpp;
    d.fetch_inactive = op.value("fi", 0) != 0;
    if (const Modifier *m = op.modifier("dpp8")) {
        if (m->values.size() != 8)
            throw Unsupported{"dpp8 without eight lanes"};
        d.kind = Dpp::dpp8;
        d.bound_ctrl = true; // 3.17: a disabled source is 0
        for (int l = 0; l < 32; ++l)
            d.from[l] = static_cast<u8>((l & ~7) | (m->values[static_cast<size_t>(l & 7)] & 7));
        return;
    }
    for (std::string_view name : dpp_names) {
        const Modifier *m = op.modifier(name);
        if (!m)
            continue;
        if (name == "quad_perm" && m->values.size() != 4)
            throw Unsupported{"quad_perm without four lanes"};
        d.kind = Dpp::table;
        d.bound_ctrl = op.value("bound_ctrl", 0) != 0;
        for (int l = 0; l < 32; ++l) {
            int from = source_lane(name, *m, l); // negative: outside the row
            d.from[l] = static_cast<u8>(from & 31);
            if (from < 0)
                d.in_row &= ~(1u << l);
        }
        place(d, op.value("row_mask", 15), op.value("bank_mask", 15));
        return;
    }
    throw Unsupported{"this DPP control"};
}

void Builder::modifiers(Inst &i, const Operation &op, Op row, Extra &extra, bool &needed) {
    const OpInfo &r = info(row);
    i8 omod = op.has("mul")   ? static_cast<i8>(op.value("mul", 2) == 4 ? 2 : 1)
              : op.has("div") ? -1
                              : 0;
    if (omod) {
        extra.omod = omod;
        needed = true;
    }
    if (op.has("clamp") && is_pseudo_scalar(row))
        extra.clamp = needed = true;
    bool dot = is_packed(r.a) != is_packed(r.d) || r.name.starts_with("v_dot4_f32_");
    if (!op.has("clamp") || dot || r.shape == Shape::mask ||
        (r.shape == Shape::special && !divides(row)))
        return; // 2.12: compares and float DOT ignore it
    if (is_float(r.d)) {
        extra.clamp = needed = true;
        return;
    }
    if (row == Op::v_pk_mul_lo_u16 &&
        choices().mul_lo_u16_clamp == choice::mul_lo_u16_clamp::ignored)
        return; // S-048
    if (LaneKernel saturating = frames_.clamp[static_cast<size_t>(row)])
        i.lane = saturating; // null: results are in range, or CLAMP is ignored
}

void Builder::vector_sources(Inst &i, const Operation &op, Op row, unsigned first) {
    const OpInfo &r = info(row);
    const Instruction &inst = e_.code->instructions[i.index];
    auto extra = std::make_unique<Extra>();
    bool needed = false;
    for (unsigned n = 0; n < 3; ++n) {
        Extra::Source &s = extra->src[n];
        s.type = source_type(r, n);
        if (s.type == Type::none || first + n >= op.operands.size())
            continue;
        const Operand &o = op.operands[first + n];
        select(op, o, n, s);
        select_piece(op, o, n, s);
        if (op.mnemonic.starts_with("v_interp_"))
            interpolate(op, n, s);
        if (op.mnemonic == "v_cvt_f32_fp8" || op.mnemonic == "v_cvt_f32_bf8")
            s.byte = static_cast<u8>(op.value("byte_sel", 0));
        // The constant is raw bits here, but literals are those of a double (0.7).
        bool number = row == Op::v_cmp_class_f64 && n == 0;
        i.src[n] = source(o, number ? Type::f64 : s.type, s.f16);
        if (auto bits = chosen_constant(inst.inline_float(op, n), row, s.type))
            i.src[n] = constant(*bits, 1);
        s.spares_nan = n == 2 && r.name.starts_with("v_dot") && is_float(s.type) &&
                       choices().nan_modifiers == choice::nan_modifiers::ignored;
        needed |= !is_plain(s);
    }
    destination(i, op, row, *extra, needed);
    dpp(op, *extra, needed);
    modifiers(i, op, row, *extra, needed);
    if (needed)
        i.extra = &e_.extras.emplace_back(*extra);
}

// The old vdst as src2 of accumulating rows, and the half that receives a 16-bit result.
void Builder::destination(Inst &i, const Operation &op, Op row, Extra &extra, bool &needed) {
    const OpInfo &r = info(row);
    if (r.shape == Shape::mask || r.d == Type::none)
        return;
    const Operand &d = operand(op, 0);
    i.dst = vgpr(d, rows_of(r.d));
    i.dst_rows = static_cast<u8>(rows_of(r.d));
    i.type = r.d;
    if (is_half(r.d)) {
        size_t sources = op.operands.size() - 1;
        extra.dst_high = d.half == Operand::Half::none ? element(op, "op_sel", sources, 0) != 0
                                                       : d.half == Operand::Half::high;
        extra.dst_high |= row == Op::v_fma_mixhi_f16;
        needed |= extra.dst_high;
    }
    if (r.shape == Shape::acc) {
        i.src[2].kind = Source::vgpr;
        i.src[2].rows = static_cast<u8>(rows_of(r.c));
        i.src[2].at = i.dst;
        extra.src[2].high = extra.dst_high;
    }
    if (row == Op::v_cndmask_b32 || row == Op::v_cndmask_b16) {
        Operand vcc;
        vcc.kind = Operand::Kind::sgpr;
        vcc.reg = sreg::vcc;
        // Text of VOPD and before gfx12 may omit the mask: it is VCC then.
        const Operand &mask = op.operands.size() > 3 ? op.operands[3] : vcc;
        i.src[2] = sgpr(mask, 1);
        i.src[2].kind = Source::mask;
        extra.src[2] = {};
    }
}

// The destination of SDWA. A 16-bit result in a whole register is extended as in a half of it.
void Builder::place_piece(Inst &i, const Operation &op, Op row) {
    const Modifier *m = op.modifier("dst_sel");
    if (!m)
        return;
    const OpInfo &r = info(row);
    Piece piece = piece_of(m->text);
    if (piece.bits == 32 && !is_half(r.d))
        return;
    if (rows_of(r.d) != 1)
        throw Unsupported{"SDWA of a 64-bit result"};
    piece.bits = std::min<u8>(piece.bits, is_half(r.d) ? 16 : 32);
    const Modifier *rest = op.modifier("dst_unused");
    Extra extra;
    extra.placed = piece;
    extra.rest = !rest || rest->text == "UNUSED_PAD" ? Extra::zeros
                 : rest->text == "UNUSED_SEXT"       ? Extra::sign
                                                     : Extra::kept;
    std::array<Inst, 2> &inner = e_.pairs.emplace_back();
    inner[0] = i;
    i.run = frames_.placed;
    i.pair = inner.data();
    i.extra = &e_.extras.emplace_back(extra);
}

void Builder::choose_frame(Inst &i, const Operation &, Op row, bool is_mask, bool is_maskx) {
    const OpInfo &r = info(row);
    i.own_rounding = r.d == Type::f16 || r.d == Type::bf16 || r.d == Type::pkf16 ||
                     r.a == Type::pkf16 || r.a == Type::pkbf16 || r.cls == Class::trans;
    i.fp64 = (r.a == Type::f64 && r.d != Type::f32) || (r.d == Type::f64 && r.a != Type::f32);
    bool scoped = i.own_rounding || i.fp64, full = i.extra != nullptr;
    const bool in_rows = e_.code->wave_size == 32 && !reads_scalars(i);
    const Frames &f = frames_;
    if (is_maskx)
        i.run = scoped ? (full ? f.maskx_full_scoped : f.maskx_plain_scoped)
                       : (full ? f.maskx_full : f.maskx_plain);
    else if (is_mask)
        i.run = scoped ? (full ? f.mask_full_scoped : f.mask_plain_scoped)
                       : (full ? f.mask_full : f.mask_plain);
    else if (full && in_rows && only_permutes(*i.extra))
        i.run = scoped ? f.permuted_rows_scoped : f.permuted_rows;
    else if (full)
        i.run = scoped ? f.full_scoped : f.full;
    else if (in_rows)
        i.run = scoped ? f.rows_scoped : f.rows;
    else
        i.run = scoped ? f.plain_scoped : f.plain;
}

void Builder::vector(Inst &i, const Operation &op, Op row) {
    bool is_mask = info(row).shape == Shape::mask;
    bool is_maskx = op.mnemonic.starts_with("v_cmpx_");
    auto index = static_cast<size_t>(row);
    if (is_mask)
        i.mask = frames_.mask[index];
    else
        i.lane = frames_.lane[index];
    vector_sources(i, op, row, is_maskx ? 0 : 1);
    if (is_mask && !is_maskx)
        i.dst = sgpr_destination(operand(op, 0), e_.code->wave_size / 32);
    choose_frame(i, op, row, is_mask, is_maskx);
}

void Builder::dual(Inst &i, const Instruction &inst) {
    std::array<Inst, 2> &pair = e_.pairs.emplace_back();
    const Operation *halves[] = {&inst.x, &*inst.y};
    for (unsigned n = 0; n < 2; ++n) {
        std::string name(halves[n]->mnemonic); // v_dual_fmac_f32 is the row v_fmac_f32
        if (!name.starts_with("v_dual_"))
            throw Unsupported{"not a VOPD pair"};
        Op row = find_op(name.erase(2, 5));
        if (row == Op::none || info(row).shape > Shape::acc)
            throw Unsupported{"no row for " + name};
        pair[n].index = i.index;
        vector(pair[n], *halves[n], row);
        if (pair[n].extra)
            throw Unsupported{"modifiers in a VOPD pair"};
        i.own_rounding |= pair[n].own_rounding;
    }
    bool rows = !reads_scalars(pair[0]) && !reads_scalars(pair[1]);
    for (const Source &s : pair[1].src)
        rows &= s.kind != Source::vgpr || s.at != pair[0].dst;
    if (rows)
        i.run = i.own_rounding ? frames_.dual_rows_scoped : frames_.dual_rows;
    else
        i.run = i.own_rounding ? frames_.dual_scoped : frames_.dual;
    i.pair = pair.data();
}

} // namespace nw::sim

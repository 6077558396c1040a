// SPDX-License-Identifier: MIT
// Vector instructions with their own handlers (isa/special.inc): operands and modifiers beyond one
// result and sources.
#include <algorithm>

#include "sim/func/executable/build.h"

namespace nw::sim {

namespace {

enum class Form : u8 {
    plain,
    nothing,       // no operands
    to_sgpr,       // the result is an SGPR
    pseudo_scalar, // result and source are SGPRs, computed as a VALU row (2.34)
    carry_out,     // the second result is a mask; CLAMP saturates
    carry_in,      // as carry_out, and the third source is a mask
    division,      // float arithmetic: its CLAMP and OMOD
    scaled,        // as division, and the second result is a mask
    permutation,   // op_sel is two flags
    byte,          // byte_sel selects the result byte
    halves,        // op_sel is in the operands' names
    signed_dot,    // neg_lo says which sources are signed (2.59); CLAMP saturates
    quad_sad,
};

struct Row {
    Op op;
    Form form;
};

// All others are plain.
constexpr Row rows[] = {
    {Op::v_nop, Form::nothing},
    {Op::v_pipeflush, Form::nothing},
    {Op::v_clrexcp, Form::nothing},
    {Op::v_readfirstlane_b32, Form::to_sgpr},
    {Op::v_readlane_b32, Form::to_sgpr},
    {Op::v_s_exp_f32, Form::pseudo_scalar},
    {Op::v_s_log_f32, Form::pseudo_scalar},
    {Op::v_s_rcp_f32, Form::pseudo_scalar},
    {Op::v_s_rsq_f32, Form::pseudo_scalar},
    {Op::v_s_sqrt_f32, Form::pseudo_scalar},
    {Op::v_s_exp_f16, Form::pseudo_scalar},
    {Op::v_s_log_f16, Form::pseudo_scalar},
    {Op::v_s_rcp_f16, Form::pseudo_scalar},
    {Op::v_s_rsq_f16, Form::pseudo_scalar},
    {Op::v_s_sqrt_f16, Form::pseudo_scalar},
    {Op::v_add_co_u32, Form::carry_out},
    {Op::v_sub_co_u32, Form::carry_out},
    {Op::v_subrev_co_u32, Form::carry_out},
    {Op::v_mad_u64_u32, Form::carry_out},
    {Op::v_mad_co_u64_u32, Form::carry_out},
    {Op::v_mad_i64_i32, Form::carry_out},
    {Op::v_mad_co_i64_i32, Form::carry_out},
    {Op::v_add_co_ci_u32, Form::carry_in},
    {Op::v_sub_co_ci_u32, Form::carry_in},
    {Op::v_subrev_co_ci_u32, Form::carry_in},
    {Op::v_div_scale_f32, Form::scaled},
    {Op::v_div_scale_f64, Form::scaled},
    {Op::v_div_fmas_f32, Form::division},
    {Op::v_div_fmas_f64, Form::division},
    {Op::v_permlane16_b32, Form::permutation},
    {Op::v_permlanex16_b32, Form::permutation},
    {Op::v_permlane16_var_b32, Form::permutation},
    {Op::v_permlanex16_var_b32, Form::permutation},
    {Op::v_permlane64_b32, Form::permutation},
    {Op::v_cvt_sr_fp8_f32, Form::byte},
    {Op::v_cvt_sr_bf8_f32, Form::byte},
    {Op::v_swap_b16, Form::halves},
    {Op::v_dot4_i32_iu8, Form::signed_dot},
    {Op::v_dot8_i32_iu4, Form::signed_dot},
    {Op::v_qsad_pk_u16_u8, Form::quad_sad},
    {Op::v_mqsad_pk_u16_u8, Form::quad_sad},
    {Op::v_mqsad_u32_u8, Form::quad_sad},
};

Form form_of(Op op) {
    const Row *row = std::ranges::find(rows, op, &Row::op);
    return row == std::end(rows) ? Form::plain : row->form;
}

bool has_modifiers(const Operation &op) {
    return op.has("clamp") || op.has("mul") || op.has("div");
}

bool is_high(const Operation &op, size_t n) { return operand(op, n).half == Operand::Half::high; }

// The first two elements of a modifier as bits 0 and 1.
i32 two_flags(const Operation &op, std::string_view name) {
    return static_cast<i32>(element(op, name, 0, 0) | element(op, name, 1, 0) << 1);
}

} // namespace

bool divides(Op op) {
    Form form = form_of(op);
    return form == Form::division || form == Form::scaled;
}

bool is_pseudo_scalar(Op op) { return form_of(op) == Form::pseudo_scalar; }

void Builder::vector_special(Inst &i, const Operation &op, Op row) {
    i.run = frames_.special[static_cast<size_t>(row)];
    Form form = form_of(row);
    switch (form) {
    case Form::nothing:
        return;
    case Form::to_sgpr:
        return to_sgpr(i, op);
    case Form::pseudo_scalar:
        return pseudo_scalar(i, op, row);
    case Form::quad_sad:
        return quad_sad(i, op, row);
    case Form::carry_out:
    case Form::carry_in:
        return carry(i, op, row, form == Form::carry_in);
    case Form::division:
    case Form::scaled:
        return division(i, op, row, form == Form::scaled);
    default:
        break;
    }
    if (has_modifiers(op) && !(form == Form::signed_dot && op.has("clamp")))
        throw Unsupported{"clamp or omod on this operation"};
    vector_sources(i, op, row, 1);
    if (form == Form::byte)
        i.imm = static_cast<i32>(op.value("byte_sel", 0));
    else if (form == Form::permutation)
        i.imm = two_flags(op, "op_sel");
    else if (form == Form::halves)
        i.imm = is_high(op, 0) | is_high(op, 1) << 1;
    else if (form == Form::signed_dot)
        i.imm = two_flags(op, "neg_lo") | op.has("clamp") << 2;
    if (form != Form::byte && form != Form::plain)
        i.extra = nullptr; // the handler applies the modifiers
}

void Builder::to_sgpr(Inst &i, const Operation &op) {
    i.dst = sgpr_destination(operand(op, 0), 1);
    i.src[0] = source(operand(op, 1), Type::u32);
    if (op.operands.size() > 2)
        i.src[1] = source(op.operands[2], Type::u32);
}

void Builder::pseudo_scalar(Inst &i, const Operation &op, Op row) {
    const OpInfo &r = info(row);
    vector_sources(i, op, row, 1);
    i.dst = sgpr_destination(operand(op, 0), 1);
    i.type = r.a;
    Op vector = find_op("v_" + std::string(r.name.substr(4))); // v_s_exp_f32 is v_exp_f32
    i.lane = frames_.lane[static_cast<size_t>(vector)];
}

void Builder::carry(Inst &i, const Operation &op, Op row, bool in) {
    if (has_modifiers(op) && !op.has("clamp"))
        throw Unsupported{"omod on this operation"};
    unsigned masks = e_.code->wave_size / 32;
    i.flag = op.has("clamp");
    vector_sources(i, op, row, 2);
    i.dst2 = sgpr_destination(operand(op, 1), masks);
    if (in) {
        i.src[2] = sgpr(operand(op, 4), masks);
        i.src[2].kind = Source::mask;
    }
}

void Builder::division(Inst &i, const Operation &op, Op row, bool scaled) {
    vector_sources(i, op, row, scaled ? 2 : 1);
    if (scaled)
        i.dst2 = sgpr_destination(operand(op, 1), e_.code->wave_size / 32);
    if (has_modifiers(op)) {
        std::array<Inst, 2> &inner = e_.pairs.emplace_back();
        inner[0] = i;
        i.run = frames_.modified;
        i.pair = inner.data();
    }
}

// D and C have four elements: packed halves in two registers, or a register each.
void Builder::quad_sad(Inst &i, const Operation &op, Op row) {
    unsigned rows = row == Op::v_mqsad_u32_u8 ? 4 : 2;
    const Operand &c = operand(op, 3);
    i.flag = op.has("clamp");
    i.dst = vgpr(operand(op, 0), rows);
    i.dst_rows = static_cast<u8>(rows);
    i.src[0] = source(operand(op, 1), Type::u64);
    i.src[1] = source(operand(op, 2), Type::u32);
    if (rows == 2) {
        i.src[2] = source(c, Type::u64);
        return;
    }
    i.src[2].kind = Source::vgpr;
    i.src[2].rows = static_cast<u8>(rows);
    i.src[2].at = vgpr(c, rows);
}

} // namespace nw::sim

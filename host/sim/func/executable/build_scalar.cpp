// SPDX-License-Identifier: MIT
// SALU, SMEM and control instructions.
#include <fmt/format.h>

#include "sim/func/alu/salu.h"
#include "sim/func/executable/build.h"
#include "sim/func/launch/launch.h"

namespace nw::sim {

namespace {

void branch_out_of_code(Wave &w, const Inst &i) {
    fault(w, i, Fault::Kind::illegal_instruction,
          fmt::format("jump out of code: the branch target, {} dwords from here, is not an "
                      "instruction of this program",
                      i.imm));
}

// If the destination can't be written, SCC is unchanged, too (1.11).
void keep_scc(Wave &w, const Inst &i) {
    const u32 scc = w.scc();
    i.pair->run(w, *i.pair);
    w.scc() = scc;
}

} // namespace

// Target of a branch out of the code: faults only when taken, and names the branch.
const Inst *Builder::out_of_code(const Inst &branch) {
    Inst &landing = e_.landings.emplace_back(branch);
    landing.run = branch_out_of_code;
    return &landing;
}

void Builder::scalar(Inst &i, const Instruction &inst, Op row) {
    const OpInfo &r = info(row);
    const Operation &op = inst.x;
    i.run = salu_handler(row);
    i.imm = inst.simm16();
    unsigned first = 0;
    bool dropped = false;
    if (r.d != Type::none) {
        const Operand &d = operand(op, 0);
        bool compares = op.mnemonic.starts_with("s_cmpk_"); // reads the register, writes only SCC
        dropped = is_ttmp(d) && !compares;
        i.dst = compares ? d.reg : sgpr_destination(d, rows_of(r.d));
        i.type = r.d;
        first = 1;
    }
    scalar_sources(i, op, row, first);
    if (dropped) {
        std::array<Inst, 2> &inner = e_.pairs.emplace_back();
        inner[0] = i;
        i.run = keep_scc;
        i.pair = inner.data();
    }
}

void Builder::scalar_sources(Inst &i, const Operation &op, Op row, unsigned first) {
    const OpInfo &r = info(row);
    if (r.shape == Shape::imm)
        return;
    if (r.a != Type::none)
        i.src[0] = source(operand(op, first), r.a);
    if (r.b != Type::none && op.operands.size() > first + 1)
        i.src[1] = source(operand(op, first + 1), r.b);
    if (r.c == Type::none)
        return;
    // Float arithmetic: a third source, else the old destination.
    bool three = op.operands.size() > first + 2;
    i.src[2] = source(operand(op, three ? first + 2 : 0), r.c);
}

void Builder::control(Inst &i, const Instruction &inst, Op row) {
    const OpInfo &r = info(row);
    const Operation &op = inst.x;
    i.run = control_handler(row);
    i.imm = inst.simm16();
    bool relative = r.cls == Class::branch && r.a == Type::none && row != Op::s_call_b64;
    if (r.d != Type::none) {
        i.dst = sgpr_destination(operand(op, 0), rows_of(r.d));
        i.dst_rows = static_cast<u8>(rows_of(r.d));
    }
    if (relative) {
        u64 target = e_.code->base + inst.offset + 4 + static_cast<u64>(i64{i.imm} * 4);
        u32 index = e_.code->find(target);
        i.target = index == Code::none ? out_of_code(i) : &e_.insts[index];
        return;
    }
    if (row == Op::s_setreg_b32 || row == Op::s_setreg_imm32_b32)
        i.src[0] = source(operand(op, 1), Type::u32);
    else if (r.a != Type::none)
        i.src[0] = source(operand(op, r.d == Type::none ? 0 : 1), r.a);
    if (row == Op::s_barrier_signal || row == Op::s_barrier_signal_isfirst)
        i.src[0] = source(operand(op, 0), Type::u32);
}

void Builder::scalar_load(Inst &i, const Operation &op, unsigned dwords) {
    i.run = run_scalar_load;
    const Operand &d = operand(op, 0);
    if (d.kind != Operand::Kind::sgpr || (d.reg != sreg::null && d.reg + dwords > sreg::null))
        throw Unsupported{
            fmt::format("operand '{}' as the destination of {} dwords", d.text, dwords)};
    i.dst = is_ttmp(d) ? sreg::null : d.reg;
    i.dst_rows = static_cast<u8>(dwords);
    scalar_address(i, op);
}

// The registers of the value get the old one, if they can be written (1.11).
void Builder::scalar_write(Inst &i, const Operation &op, const MemoryOp &m) {
    MemoryAccess a;
    a.op = m;
    const unsigned value = m.registers() * (m.two_values() ? 2 : 1);
    const Operand &data = operand(op, 0);
    i.dst = static_cast<u16>(sgpr(data, value).at);
    a.returns = m.updates() && op.has("glc") && !is_ttmp(data) && data.reg != sreg::null;
    i.dst_rows = static_cast<u8>(value);
    i.flag = op.mnemonic.starts_with("s_scratch_");
    i.access = &e_.accesses.emplace_back(a);
    i.run = sim::scalar_write(m, op.mnemonic.starts_with("s_buffer_"));
    scalar_address(i, op);
}

// [data,] base, offset
void Builder::scalar_address(Inst &i, const Operation &op) {
    const Operand &offset = operand(op, 2);
    i.src[0] = sgpr(operand(op, 1), op.mnemonic.starts_with("s_buffer_") ? 4 : 2);
    i.imm = static_cast<i32>(op.value("offset", 0));
    if (offset.kind == Operand::Kind::sgpr && offset.reg != sreg::null)
        i.src[1] = sgpr(offset, 1);
    else if (offset.kind == Operand::Kind::integer)
        i.imm = static_cast<i32>(offset.integer);
}

} // namespace nw::sim

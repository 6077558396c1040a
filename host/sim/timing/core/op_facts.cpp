// SPDX-License-Identifier: MIT
#include "sim/timing/core/op_facts.h"

#include <algorithm>
#include <set>

#include "sim/isa/classes.h"
#include "sim/isa/tables/memory_ops.h"

namespace nw::sim::timing {

namespace {

using Kind = OpFacts::Kind;

bool contains(std::string_view s, std::string_view part) { return s.find(part) != s.npos; }

bool any_of(std::string_view n, std::initializer_list<std::string_view> prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view p) { return n.starts_with(p); });
}

// ---- classes of cost ----------------------------------------------------------------------------

bool is_trans(const Operation &op) {
    const Op row = find_op(op.mnemonic);
    return row != Op::none && info(row).cls == Class::trans;
}

bool is_f64(std::string_view n) {
    return contains(n, "_f64") && !n.starts_with("v_cmp_class") && !n.starts_with("v_mov");
}

bool is_dot2(const Operation &op) { return contains(op.mnemonic, "dot2"); }

bool is_bf16_dot(const Operation &op) { return is_dot2(op) && contains(op.mnemonic, "_bf16"); }

// v_add_co and its like, and v_div_scale: the second operand is a destination, too.
bool is_carry(std::string_view n) { return contains(n, "_co_") || n.starts_with("v_div_scale"); }

void valu(OpFacts &f, const Instruction &inst, const Costs &c) {
    const std::string_view n = inst.x.mnemonic;
    f.unit = Unit::valu;
    for (size_t o = 0; o < std::min<size_t>(2, inst.x.operands.size());
         ++o) // destinations: VOP3 has two
        f.sgpr_result |= inst.x.operands[o].kind == Operand::Kind::sgpr &&
                         inst.x.operands[o].reg != sreg::vcc && (o == 0 || is_carry(n));
    f.latency = static_cast<u16>(inst.y ? c.vopd_latency : c.valu_latency);
    if (is_trans(inst.x)) {
        f.trans = true;
        f.interval =
            static_cast<u16>(n.starts_with("v_s_") ? c.scalar_trans_interval
                                                   : c.trans_interval * (is_f64(n) ? 4 : 1));
        f.latency = static_cast<u16>(c.trans_to_valu);
        f.trans_latency = static_cast<u16>(c.trans_latency);
    } else if (is_f64(n)) {
        f.interval = static_cast<u16>(c.f64_interval);
        f.latency = static_cast<u16>(c.f64_latency);
    } else if (any_of(n, {"v_lshlrev_b64", "v_lshrrev_b64", "v_ashrrev_i64"})) {
        f.interval = static_cast<u16>(c.shift64_interval);
        f.latency += f.interval - 1;
    } else if (any_of(n, {"v_mad_u64", "v_mad_i64", "v_mad_co_u64", "v_mad_co_i64"})) {
        f.interval = static_cast<u16>(c.mad64_interval);
        f.latency += f.interval - 1;
    } else if (any_of(n, {"v_mul_lo_u32", "v_mul_hi_u32", "v_mul_hi_i32", "v_mul_lo_i32"})) {
        f.interval = static_cast<u16>(c.mul32_interval);
        f.latency += f.interval - 1;
    } else if (!inst.y && contains(n, "v_dot")) {
        f.latency = static_cast<u16>(c.dot_latency);
    }
    const bool bf16_dot = is_bf16_dot(inst.x) || (inst.y && is_bf16_dot(*inst.y));
    const bool dots = inst.y && is_dot2(inst.x) && is_dot2(*inst.y);
    if (bf16_dot || dots) {
        f.interval = std::max(bf16_dot ? static_cast<u16>(c.dot_bf16_interval) : u16{1},
                              dots ? static_cast<u16>(c.dot_pair_interval) : u16{1});
        f.latency += f.interval - 1;
    }
}

// True if A and B, the first two sources, are in the same bank.
bool banks_clash(const Operation &op) {
    if (op.operands.size() < 3)
        return false;
    const Operand &a = op.operands[1], &b = op.operands[2];
    return a.kind == Operand::Kind::vgpr && b.kind == Operand::Kind::vgpr && a.reg % 4 == b.reg % 4;
}

void wmma(OpFacts &f, const Instruction &inst, const Costs &c) {
    const std::string_view n = inst.x.mnemonic;
    f.unit = Unit::valu;
    f.wmma = true;
    const bool iu4 = contains(n, "iu4"),
               bytes = contains(n, "iu8") || contains(n, "fp8") || contains(n, "bf8");
    f.interval = static_cast<u16>(iu4     ? c.wmma_iu4_interval
                                  : bytes ? c.wmma_iu8_interval
                                          : c.wmma_f16_interval);
    if (banks_clash(inst.x))
        f.interval += static_cast<u16>(c.wmma_bank_clash);
    f.latency = static_cast<u16>(f.interval + c.wmma_to_valu);
}

void salu(OpFacts &f, std::string_view n, const Costs &c) {
    f.unit = Unit::salu;
    f.latency = static_cast<u16>(c.salu_latency);
    f.execution =
        static_cast<u16>(n.starts_with("s_mov_") ? c.salu_move_execution : c.salu_execution);
    if (n.starts_with("s_mul") && !contains(n, "_f")) {
        f.latency = static_cast<u16>(c.salu_mul_latency);
        f.interval = static_cast<u16>(c.salu_mul_interval);
    } else if (any_of(n, {"s_getreg", "s_setreg", "s_get_shader_cycles"})) {
        f.latency = static_cast<u16>(c.getreg_latency);
    } else if (any_of(n, {"s_add_f", "s_sub_f", "s_mul_f", "s_fma", "s_min_f", "s_max_f",
                          "s_min_num_f", "s_max_num_f", "s_cmp_lt_f", "s_ceil_f", "s_floor_f",
                          "s_trunc_f", "s_rndne_f", "s_cvt_", "s_minimum_f", "s_maximum_f"})) {
        f.latency = static_cast<u16>(c.salu_float_latency);
    }
}

VectorRequest::Policy policy_of(const Operation &op) {
    if (const Modifier *th = op.modifier("th"); th && contains(th->text, "NT"))
        return VectorRequest::Policy::stream;
    if (const Modifier *scope = op.modifier("scope"))
        return contains(scope->text, "SYS")   ? VectorRequest::Policy::system
               : contains(scope->text, "DEV") ? VectorRequest::Policy::device
                                              : VectorRequest::Policy::normal;
    if (op.has("slc"))
        return VectorRequest::Policy::stream;
    return op.has("glc") ? VectorRequest::Policy::device : VectorRequest::Policy::normal;
}

void memory(OpFacts &f, const Instruction &inst) {
    const std::string_view n = inst.x.mnemonic;
    const MemoryOp op = find_memory_op(n);
    const bool on_lds = n.starts_with("ds_");
    f.unit = on_lds ? Unit::lds : Unit::vmem;
    f.payload = on_lds ? Payload::lds : Payload::vector;
    f.store = op.stores();
    f.atomic = op.updates();
    f.returns = f.issues.on[static_cast<int>(Counter::load)] ||
                f.issues.on[static_cast<int>(Counter::sample)] || (on_lds && !f.store);
    f.saddr = std::any_of(inst.x.operands.begin(), inst.x.operands.end(), [](const Operand &o) {
        return o.kind == Operand::Kind::sgpr && o.reg != sreg::null;
    });
    if (f.store || f.atomic)
        f.data_dwords = static_cast<u16>(op.registers() * (op.two_values() ? 2 : 1));
    f.policy = policy_of(inst.x);
}

// s_delay_alu: INSTID0[3:0], SKIP[6:4], INSTID1[10:7].
void delay(OpFacts &f, u32 imm) {
    f.kind = Kind::delay;
    f.delay[0] = imm & 15;
    f.delay_skip = imm >> 4 & 7;
    f.delay[1] = imm >> 7 & 15;
}

void control(OpFacts &f, const Instruction &inst, Generation generation) {
    const std::string_view n = inst.x.mnemonic;
    const u32 imm = inst.word0 & 0xffff;
    const auto alu = alu_limits(inst);
    f.unit = Unit::control;
    if (n == "s_endpgm" || n == "s_endpgm_saved" || n == "s_endpgm_ordered_ps_done")
        f.kind = Kind::end, f.payload = Payload::end;
    else if (alu) {
        f.kind = Kind::wait;
        f.va_vdst = alu->va_vdst;
        f.waits_salu = alu->sa_sdst == 0;
        f.waits_vcc = alu->va_vcc == 0;
        f.waits_sgpr = alu->va_sdst == 0;
    } else if (n.starts_with("s_wait")) {
        f.kind = Kind::wait;
        f.limits = wait_limits(inst, generation);
    } else if (n == "s_barrier")
        f.kind = Kind::barrier;
    else if (n.starts_with("s_barrier_signal"))
        f.kind = Kind::barrier_signal;
    else if (n == "s_barrier_wait")
        f.kind = Kind::barrier_wait;
    else if (n == "s_nop" || n == "ds_nop") {
        f.kind = Kind::nop;
        f.count = static_cast<i32>(n == "s_nop" ? imm & 15 : 0);
    } else if (n == "s_sleep") {
        f.kind = Kind::sleep;
        f.count = static_cast<i32>(imm & 127) * 64;
    } else if (n == "s_setprio") {
        f.kind = Kind::priority;
        f.count = static_cast<i32>(imm & 3);
    } else if (n == "s_delay_alu")
        delay(f, imm);
    f.immediate = (f.kind == Kind::wait && !alu) || f.kind == Kind::nop || n == "s_clause";
}

bool is_control(std::string_view n) {
    return any_of(n, {"s_wait",
                      "s_barrier",
                      "s_nop",
                      "ds_nop",
                      "s_sleep",
                      "s_setprio",
                      "s_endpgm",
                      "s_delay_alu",
                      "s_clause",
                      "s_sendmsg",
                      "s_set_inst_prefetch",
                      "s_setkill",
                      "s_sethalt",
                      "s_code_end",
                      "s_round_mode",
                      "s_denorm_mode",
                      "s_ttracedata",
                      "s_trap",
                      "s_version",
                      "s_incperflevel",
                      "s_decperflevel"});
}

// Invalidations, write-backs and prefetches: the wave goes on when the request is sent (T-090).
bool sends_to_caches(OpFacts &f, std::string_view n, const Costs &c) {
    const bool prefetch = n.starts_with("s_prefetch_");
    if (!prefetch && !any_of(n, {"buffer_gl0_inv", "buffer_gl1_inv", "global_inv", "global_wb",
                                 "s_dcache_inv", "s_icache_inv"}))
        return false;
    f.unit = Unit::control;
    f.kind = Kind::sleep;
    f.count = static_cast<i32>(prefetch ? c.cache_prefetch : c.cache_maintenance);
    return true;
}

void classify(OpFacts &f, const Instruction &inst, const Costs &c, Generation generation) {
    const std::string_view n = inst.x.mnemonic;
    if (sends_to_caches(f, n, c))
        return;
    if (is_control(n))
        return control(f, inst, generation);
    if (find_memory_op(n).access != Access::none || n.starts_with("ds_"))
        return memory(f, inst);
    if (loads_scalars(n) || find_scalar_write(n).access != Access::none) {
        f.unit = Unit::smem;
        f.payload = Payload::scalar;
        return;
    }
    switch (class_of(inst)) {
    case Class::valu:
    case Class::vopd:
    case Class::trans:
        return valu(f, inst, c);
    case Class::wmma:
        return wmma(f, inst, c);
    case Class::salu:
        return salu(f, n, c);
    case Class::branch:
        f.unit = Unit::control;
        f.kind = Kind::branch;
        f.conditional = n.starts_with("s_cbranch");
        return;
    default:
        // Instructions without a cost class. v_illegal is what zeros after s_endpgm decode to; a
        // wave that executes it faults.
        f.unit = n.starts_with("v_")   ? Unit::valu
                 : n.starts_with("s_") ? Unit::salu
                                       : Unit::control;
        f.latency = static_cast<u16>(c.unknown_latency);
        f.unknown = !inst.text.empty() && n != "v_illegal";
    }
}

// ---- registers ----------------------------------------------------------------------------------

// Registers that an instruction reads and writes, by kind.
struct Uses {
    std::vector<OpFacts::Registers> vgpr_reads, vgpr_writes, sgpr_reads, sgpr_writes, accumulators;
};

// Implicit EXEC reads: vector instructions, and names that contain it.
void implied_exec(Uses &u, Unit unit, std::string_view n) {
    if (unit == Unit::valu || unit == Unit::vmem || unit == Unit::lds)
        u.sgpr_reads.push_back({sreg::exec, 1});
    if (n.starts_with("v_cmpx") || contains(n, "saveexec") || contains(n, "wrexec"))
        u.sgpr_writes.push_back({sreg::exec, 1});
    if (n.starts_with("s_cbranch_exec"))
        u.sgpr_reads.push_back({sreg::exec, 1});
}

void move_accumulator(Uses &u, const Operand &c) {
    const auto found = std::find_if(u.vgpr_reads.begin(), u.vgpr_reads.end(), [&](const auto &r) {
        return r.first == c.reg && r.count == c.count;
    });
    if (found == u.vgpr_reads.end())
        return;
    u.accumulators.push_back(*found);
    u.vgpr_reads.erase(found);
}

Uses uses_of(const Instruction &inst, const OpFacts &f) {
    Uses u;
    for (const RegisterUse &use : register_uses(inst)) {
        auto &list = use.bank == RegisterUse::vgpr ? (use.write ? u.vgpr_writes : u.vgpr_reads)
                                                   : (use.write ? u.sgpr_writes : u.sgpr_reads);
        list.push_back({use.first, use.count});
    }
    // WMMA has D, A, B, C; SWMMAC adds to D and has an index.
    const bool sparse = inst.x.mnemonic.starts_with("v_swmmac");
    if (f.wmma && inst.x.operands.size() > 3)
        if (const Operand &c = inst.x.operands[sparse ? 0 : 3]; c.kind == Operand::Kind::vgpr)
            move_accumulator(u, c);
    implied_exec(u, f.unit, inst.x.mnemonic);
    return u;
}

bool reads_clock(const Instruction &inst) {
    const std::string_view n = inst.x.mnemonic;
    if (n.starts_with("s_getreg")) {
        const u32 id = inst.word0 & 63;
        return id == 29 || id == 30;
    }
    return any_of(n, {"s_get_shader_cycles", "s_memtime", "s_memrealtime"}) ||
           (n.starts_with("s_sendmsg_rtn") && contains(inst.text, "REALTIME"));
}

} // namespace

void ProgramFacts::unite(const WhatIf::Pair &pair, const Code &code, const Costs &c) {
    OpFacts &f = ops[pair.kept], &other = ops[pair.other];
    other.absent = true;
    const auto add = [&](std::span<const OpFacts::Registers> &to,
                         std::span<const OpFacts::Registers> more) {
        std::vector<OpFacts::Registers> both(to.begin(), to.end());
        both.insert(both.end(), more.begin(), more.end());
        to = registers_.emplace_back(std::move(both));
    };
    add(f.vgpr_reads, other.vgpr_reads);
    add(f.vgpr_writes, other.vgpr_writes);
    add(f.sgpr_reads, other.sgpr_reads);
    f.vgpr_source |= other.vgpr_source;
    const auto is_dot = [&](u32 index) { return is_dot2(code.instructions[index].x); };
    const bool dots = is_dot(pair.kept) && is_dot(pair.other);
    f.interval = std::max(
        {f.interval, other.interval, dots ? static_cast<u16>(c.dot_pair_interval) : u16{1}});
    f.latency = static_cast<u16>(c.vopd_latency + f.interval - 1);
}

ProgramFacts::ProgramFacts(const Code &code, std::string_view gfx, const Costs &costs,
                           std::span<const WhatIf::Pair> pairs) {
    const Generation generation = target_of(gfx).generation;
    std::set<std::string> without_class;
    ops.reserve(code.instructions.size() + 1);
    const auto kept = [&](std::vector<OpFacts::Registers> list) {
        return std::span<const OpFacts::Registers>(registers_.emplace_back(std::move(list)));
    };
    for (const Instruction &inst : code.instructions) {
        OpFacts f;
        f.offset = inst.offset;
        f.next_offset = inst.offset + inst.size;
        f.line = inst.offset / code_line;
        if (!inst.text.empty()) {
            f.issues = issues(inst, generation);
            classify(f, inst, costs, generation);
            Uses u = uses_of(inst, f);
            f.vgpr_source = !u.vgpr_reads.empty() || !u.accumulators.empty();
            f.reads_scc = inst.x.mnemonic.starts_with("s_cbranch_scc");
            f.vgpr_reads = kept(std::move(u.vgpr_reads));
            f.vgpr_writes = kept(std::move(u.vgpr_writes));
            f.sgpr_reads = kept(std::move(u.sgpr_reads));
            f.sgpr_writes = kept(std::move(u.sgpr_writes));
            f.accumulators = kept(std::move(u.accumulators));
            reads_clock |= timing::reads_clock(inst);
            if (f.unknown)
                without_class.insert(std::string(inst.x.mnemonic));
        }
        ops.push_back(std::move(f));
    }
    for (const WhatIf::Pair &pair : pairs)
        unite(pair, code, costs);
    ops.emplace_back(); // where the code ends
    for (const OpFacts &f : ops)
        payloads.push_back(f.payload);
    unknown.assign(without_class.begin(), without_class.end());
}

} // namespace nw::sim::timing

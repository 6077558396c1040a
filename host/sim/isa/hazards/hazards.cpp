// SPDX-License-Identifier: MIT
#include "sim/isa/hazards/hazards.h"

#include <algorithm>

#include "base/targets.h"
#include "sim/isa/tables/ops.h"

namespace nw::sim {

namespace {

using namespace series;

// Combinations.
enum : u8 {
    gfx11 = gfx110x | gfx115x,
    gfx12 = gfx120x,
    gfx10 = gfx101x | gfx103x,
    since_gfx11 = gfx11 | gfx12,
    all_but_gfx103x = since_gfx11 | gfx101x
};
enum : u8 { wave32 = 1, wave64 = 2, any_wave = wave32 | wave64 };

constexpr HazardInfo table[] = {
#define HAZARD(name, note, series, waves, by, what, remedy)                                        \
    {#name, note, series, waves, Checkers::by, what, remedy},
#include "sim/isa/hazards/hazards.inc"
#undef HAZARD
};

bool contains(std::string_view s, std::string_view part) { return s.find(part) != s.npos; }

HazardRole::Unit unit_of(std::string_view n, Class cls) {
    switch (cls) {
    case Class::valu:
    case Class::vopd:
    case Class::trans:
    case Class::wmma:
        return HazardRole::valu;
    case Class::salu:
    case Class::branch:
        return HazardRole::salu;
    default:
        break;
    }
    for (std::string_view prefix :
         {"ds_", "global_", "flat_", "scratch_", "buffer_", "tbuffer_", "image_", "exp"})
        if (n.starts_with(prefix))
            return HazardRole::memory;
    // VOPD halves and WMMA have no rows of their own names.
    return n.starts_with("v_") ? HazardRole::valu : HazardRole::other;
}

constexpr std::string_view scalar_memory[] = {"s_load_",   "s_store_",   "s_buffer_",
                                              "s_atomic_", "s_scratch_", "s_dcache_"};

// Which operand is a lane mask; 0: none.
size_t mask_operand(std::string_view n) {
    return n.starts_with("v_cndmask") ? 3 : contains(n, "_co_ci_") && n.starts_with("v_") ? 4 : 0;
}

void add_operand(std::vector<RegisterUse> &uses, const Operation &op, size_t n) {
    if (n >= op.operands.size())
        return;
    const Operand &o = op.operands[n];
    if (o.kind == Operand::Kind::vgpr || o.kind == Operand::Kind::sgpr)
        uses.push_back({o.kind == Operand::Kind::vgpr ? RegisterUse::vgpr : RegisterUse::sgpr,
                        false, o.reg, o.count});
}

void read_alu_wait(HazardRole &r, const AluLimits &limits) {
    r.va_vdst = limits.va_vdst == 0;
    r.va_sdst = limits.va_sdst == 0;
    r.va_vcc = limits.va_vcc == 0;
    r.sa_sdst = limits.sa_sdst == 0;
    r.vm_vsrc = limits.vm_vsrc == 0;
}

// gfx11 has wait_vdst, gfx12 both fields by other names.
void read_lds_direct(HazardRole &r, std::string_view n, u32 word) {
    const bool gfx12 = n.starts_with("ds_");
    r.lds_direct = true;
    r.unit = HazardRole::other;
    r.wait_vdst = word >> 16 & 15;
    r.wait_vsrc = gfx12 && (word >> 23 & 1) == 0;
}

// In wave64, the pass for the upper lanes reads scalar operands after the pass for the lower ones
// has written the first register of each mask. A mask operand has a separate upper half.
bool overwrites_own_scalar(const HazardRole &r, std::string_view n) {
    if (r.unit != HazardRole::valu || n.starts_with("v_readlane") ||
        n.starts_with("v_readfirstlane"))
        return false;
    const auto is_mask = [&](const RegisterUse &use) {
        return std::any_of(r.masks.begin(), r.masks.end(), [&](const RegisterUse &m) {
            return m.first == use.first && m.count == use.count;
        });
    };
    for (const RegisterUse &w : r.uses)
        for (const RegisterUse &use : r.uses)
            if (w.write && is_tracked_sgpr(w) && !use.write && use.bank == w.bank &&
                !is_mask(use) && overlap(use, {w.bank, false, w.first, 1}))
                return true;
    return false;
}

// The sources of a pair that two different VGPRs of one parity are, src0 and vsrc1 apart.
void read_parity(HazardRole &r, const Operation &x, const Operation &y) {
    for (size_t n : {1, 2}) {
        if (n >= x.operands.size() || n >= y.operands.size())
            continue;
        const Operand &a = x.operands[n], &b = y.operands[n];
        if (a.kind != Operand::Kind::vgpr || b.kind != Operand::Kind::vgpr || a.reg == b.reg ||
            a.reg % 2 != b.reg % 2)
            continue;
        add_operand(r.parity, x, n);
        add_operand(r.parity, y, n);
    }
}

void read_registers(HazardRole &r, const Instruction &inst) {
    const Operation &op = inst.x;
    const std::string_view n = op.mnemonic;
    r.uses = register_uses(inst);
    for (const Operand &o : op.operands)
        r.literal |= o.literal;
    for (const RegisterUse &use : r.uses)
        r.writes_exec |= r.unit == HazardRole::salu && use.write && use.bank == RegisterUse::sgpr &&
                         use.first + use.count > sreg::exec && use.first <= sreg::exec + 1;
    r.writes_exec |= contains(n, "saveexec") || contains(n, "wrexec");
    if (size_t mask = mask_operand(n))
        add_operand(r.masks, op, mask);
    if (n.starts_with("v_div_fmas"))
        r.masks.push_back({RegisterUse::sgpr, false, sreg::vcc, 2});
    if (r.matrix)
        for (size_t operand : {1, 2})
            add_operand(r.inputs, op, operand);
    if (n.starts_with("v_swmmac"))
        add_operand(r.inputs, op, 3);
    if (inst.y) {
        read_parity(r, op, *inst.y);
        const std::vector<RegisterUse> y = register_uses(*inst.y);
        r.vopd_dependent = std::ranges::any_of(
            y, [&](const RegisterUse &use) { return !use.write && overlap(r.uses[0], use); });
    }
    if (n.starts_with("v_mad_u64_u32") || n.starts_with("v_mad_i64_i32"))
        for (const RegisterUse &use : r.uses)
            r.mad_overlap |= !use.write && use.bank == RegisterUse::vgpr &&
                             overlap(r.uses[0], {use.bank, false, use.first, 1});
}

void read_gfx10_waits(Gfx10Role &r, std::string_view n, u32 word) {
    const u32 imm = word & 0xffff;
    const bool all = n == "s_waitcnt", sopp = word >> 23 == 0x17f;
    r.waits = n.starts_with("s_waitcnt") && n != "s_waitcnt_depctr";
    r.waits_load = (all && (imm & 15) == 0 && imm >> 14 == 0) || (n == "s_waitcnt_vmcnt" && !imm);
    r.waits_lds = (all && (imm >> 8 & 63) == 0) || (n == "s_waitcnt_lgkmcnt" && !imm);
    r.waits_store = n == "s_waitcnt_vscnt" && imm == 0;
    r.resolves_smem = r.waits_lds || (n.starts_with("s_") && !sopp && !r.smem && !r.waits &&
                                      n != "s_version" && n != "s_setvskip");
}

} // namespace

const HazardInfo &info(Hazard h) { return table[static_cast<size_t>(h)]; }

bool applies(Hazard h, std::string_view gfx, u32 wave_size) {
    const HazardInfo &i = info(h);
    return i.series & target_of(gfx).series && i.waves & (wave_size == 64 ? wave64 : wave32);
}

HazardRole hazard_role(const Instruction &inst) {
    HazardRole r;
    if (inst.text.empty())
        return r;
    const Operation &op = inst.x;
    std::string_view n = op.mnemonic;
    Class cls = info(find_op(n)).cls;
    r.unit = unit_of(n, cls);
    r.trans = cls == Class::trans;
    r.matrix = n.starts_with("v_wmma") || n.starts_with("v_swmmac");
    r.cmpx = n.starts_with("v_cmpx_");
    r.permlane = n.starts_with("v_permlane");
    r.ds_nop = n == "ds_nop";
    r.dropped = n == "v_nop";
    r.resolves_sgprs = n.starts_with("s_load_") || n.starts_with("s_buffer_load_") ||
                       n.starts_with("s_dcache") || n.starts_with("buffer_") ||
                       n.starts_with("tbuffer_");
    if (const auto limits = alu_limits(inst))
        read_alu_wait(r, *limits);
    if (n.starts_with("lds_") || n.starts_with("ds_direct_load") || n.starts_with("ds_param_load"))
        read_lds_direct(r, n, inst.word0);
    r.long_clause = n == "s_clause" && (inst.word0 & 63) + 1 > most_in_clause;
    r.dealloc_vgprs = n == "s_sendmsg" && (inst.word0 & 0xff) == 3;

    r.jump = n == "s_setpc_b64" || n == "s_swappc_b64" || n == "s_call_b64";
    read_registers(r, inst);
    r.same_sgpr = overwrites_own_scalar(r, n);
    return r;
}

Gfx10Role gfx10_role(const Instruction &inst, const HazardRole &role) {
    Gfx10Role r;
    if (inst.text.empty())
        return r;
    const std::string_view n = inst.x.mnemonic;
    const u32 imm = inst.word0 & 0xffff;
    const bool atomic = contains(n, "_atomic_"), flat = n.starts_with("flat_");
    if (role.unit == HazardRole::memory && !n.starts_with("exp")) {
        const bool ds = n.starts_with("ds_");
        r.lds = flat || ds;
        r.store = !ds && (contains(n, "_store_") || (atomic && !inst.x.has("glc")));
        r.load = !r.store && !ds;
        r.reads_m0 = contains(n, "addtid") || contains(n, "_gws_") || inst.x.has("lds");
    }
    r.smem = std::any_of(std::begin(scalar_memory), std::end(scalar_memory),
                         [&](std::string_view prefix) { return n.starts_with(prefix); });
    r.salu = n.starts_with("s_") && !r.smem;
    r.reads_exec = role.unit == HazardRole::memory || contains(n, "saveexec") ||
                   contains(n, "wrexec") || n.starts_with("s_cbranch_exec");
    for (const RegisterUse &use : role.uses) {
        const bool sgpr = use.bank == RegisterUse::sgpr;
        r.reads_exec |=
            sgpr && !use.write && use.first + use.count > sreg::exec && use.first <= sreg::exec + 1;
        r.scalar_dst |= use.write && is_tracked_sgpr(use);
    }
    const bool valu = role.unit == HazardRole::valu;
    r.reads_exec &= !valu;
    r.scalar_dst &= valu && !n.starts_with("v_read");
    r.branch = n == "s_branch" || n.starts_with("s_cbranch");
    r.branch_3f = r.branch && imm == 0x3f;
    read_gfx10_waits(r, n, inst.word0);
    r.fp_atomic = atomic && (contains(n, "_f32") || contains(n, "_f64"));
    r.denorm_mode = n == "s_denorm_mode";
    r.image_16 = n.starts_with("image_") && inst.size >= 16;
    r.offset_6 = (n.starts_with("buffer_") || n.starts_with("tbuffer_")) &&
                 (inst.x.value("offset", 0) & 6) != 0;
    r.flat_offset = flat && inst.x.value("offset", 0) != 0;
    r.inst_prefetch = n == "s_set_inst_prefetch_distance";
    r.wait_states = n == "s_nop" ? static_cast<u8>((imm & 15) + 1) : 1;
    return r;
}

Sgprs tracked_sgprs(const std::vector<RegisterUse> &uses, bool write) {
    Sgprs set = 0;
    for (const RegisterUse &use : uses)
        for (unsigned n = use.first; is_tracked_sgpr(use) && n < use.first + use.count; ++n)
            if (use.write == write && n < 8 * sizeof set)
                set |= one_sgpr << n;
    return set;
}

} // namespace nw::sim

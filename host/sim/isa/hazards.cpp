// SPDX-License-Identifier: MIT
#include "sim/isa/hazards.h"

#include "sim/isa/ops.h"

namespace nw::sim {

namespace {

enum : u8 {
    gfx110x = 1,
    gfx115x = 2,
    gfx11 = gfx110x | gfx115x,
    gfx12 = 4,
    all_gfx = gfx11 | gfx12
};
enum : u8 { wave32 = 1, wave64 = 2, any_wave = wave32 | wave64 };

constexpr HazardInfo table[] = {
#define HAZARD(name, note, targets, waves, what, remedy)                                           \
    {#name, note, targets, waves, what, remedy},
#include "sim/isa/hazards.inc"
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

bool overlap(const RegisterUse &a, const RegisterUse &b) {
    return a.bank == b.bank && a.first < b.first + b.count && b.first < a.first + a.count;
}

void read_depctr(HazardRole &r, u32 imm) {
    r.va_vdst = (imm >> 12 & 15) == 0;
    r.va_sdst = (imm >> 9 & 7) == 0;
    r.va_vcc = (imm >> 1 & 1) == 0;
    r.sa_sdst = (imm & 1) == 0;
}

} // namespace

const HazardInfo &info(Hazard h) { return table[static_cast<size_t>(h)]; }

bool applies(Hazard h, std::string_view gfx, u32 wave_size) {
    const HazardInfo &i = info(h);
    u8 target = gfx.starts_with("gfx110")   ? gfx110x
                : gfx.starts_with("gfx115") ? gfx115x
                : gfx.starts_with("gfx12")  ? gfx12
                                            : 0;
    return i.targets & target && i.waves & (wave_size == 64 ? wave64 : wave32);
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
    r.resolves_sgprs = n.starts_with("s_load_") || n.starts_with("s_buffer_load_") ||
                       n.starts_with("s_dcache") || n.starts_with("buffer_") ||
                       n.starts_with("tbuffer_");
    if (n == "s_waitcnt_depctr" || n == "s_wait_alu")
        read_depctr(r, inst.word0 & 0xffff);
    r.dealloc_vgprs = n == "s_sendmsg" && (inst.word0 & 0xff) == 3;

    r.uses = register_uses(inst);
    r.jump = n == "s_setpc_b64" || n == "s_swappc_b64" || n == "s_call_b64";
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
    if (n.starts_with("v_mad_u64_u32") || n.starts_with("v_mad_i64_i32"))
        for (const RegisterUse &use : r.uses)
            r.mad_overlap |= !use.write && use.bank == RegisterUse::vgpr &&
                             overlap(r.uses[0], {use.bank, false, use.first, 1});
    return r;
}

} // namespace nw::sim

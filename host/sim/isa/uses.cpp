// SPDX-License-Identifier: MIT
#include "sim/isa/uses.h"

#include <set>
#include <string_view>

#include "sim/isa/memory_ops.h"

namespace nw::sim {

namespace {

bool contains(std::string_view s, std::string_view part) { return s.find(part) != s.npos; }

bool returns_atomic(const Operation &op, const MemoryOp &m) {
    const Modifier *th = op.modifier("th");
    return m.returns || op.has("glc") || (th && contains(th->text, "RETURN"));
}

// How many leading operands are destinations.
size_t destinations(const Operation &op) {
    std::string_view n = op.mnemonic;
    if (n.starts_with("s_cmp") || n.starts_with("s_bitcmp") || n.starts_with("s_cbranch") ||
        n.starts_with("s_setpc") || n.starts_with("s_setreg") || n.starts_with("s_wait") ||
        n.starts_with("s_barrier") || n.starts_with("v_cmpx_") || n.starts_with("s_rfe") ||
        n.starts_with("s_prefetch") || n.starts_with("s_sleep_var") || n.starts_with("s_sendmsg") ||
        n == "s_branch" || n.starts_with("s_delay_alu") || n.starts_with("exp"))
        return n.starts_with("s_sendmsg_rtn") ? 1 : 0;
    if (MemoryOp m = find_memory_op(n); m.access != Access::none)
        return m.loads() || (m.updates() && returns_atomic(op, m)) ? 1 : 0;
    bool carries = contains(n, "_co_") && n.starts_with("v_");
    return carries || n.starts_with("v_mad_u64") || n.starts_with("v_mad_i64") ||
                   n.starts_with("v_div_scale")
               ? 2
               : 1;
}

// The destination is also a source.
bool accumulates(std::string_view n) {
    return n.starts_with("v_fmac") || contains(n, "fmac") || contains(n, "dot2acc") ||
           contains(n, "dot2c") || n.starts_with("v_writelane") || n.starts_with("v_swap") ||
           n.starts_with("s_addk") || n.starts_with("s_mulk") || n.starts_with("s_cmov") ||
           n.starts_with("s_bitset") || n.starts_with("s_fmac") || n.starts_with("v_swmmac") ||
           n.starts_with("v_cvt_sr_");
}

bool reads_scc(std::string_view n) {
    for (std::string_view name : {"s_cselect_", "s_cmov", "s_addc_", "s_subb_", "s_add_co_ci_",
                                  "s_sub_co_ci_", "s_cbranch_scc"})
        if (n.starts_with(name))
            return true;
    return false;
}

// The scalar rows whose last column says something of SCC, and the comparisons.
bool writes_scc(std::string_view n) {
    static const auto names = [] {
        std::set<std::string_view> s;
        const auto row = [&](std::string_view name, std::string_view scc) {
            if (scc != "scc")
                s.insert(name);
        };
#define SOP(mn, D, A, B, expr, scc) row(#mn, #scc);
#define SOPK(mn, D, expr, scc) row(#mn, #scc);
#define SCMP(mn, ...) row(#mn, "");
#define SCMPK(mn, ...) row(#mn, "");
#define SCMPB(mn, ...) row(#mn, "");
#define SCMPF(mn, ...) row(#mn, "");
#define SEXEC(mn, ...) row(#mn, "");
#define SFP(mn, ...)
#define SFPX(mn, ...)
#include "sim/isa/salu.inc"
#undef SOP
#undef SOPK
#undef SCMP
#undef SCMPK
#undef SCMPB
#undef SCMPF
#undef SEXEC
#undef SFP
#undef SFPX
        s.insert("s_barrier_signal_isfirst");
        return s;
    }();
    return names.contains(n);
}

void add(std::vector<RegisterUse> &uses, const Operand &o, bool write) {
    bool is_vgpr = o.kind == Operand::Kind::vgpr;
    if (!is_vgpr && (o.kind != Operand::Kind::sgpr || o.reg == sreg::null || o.reg > sreg::scc))
        return;
    uses.push_back({is_vgpr ? RegisterUse::vgpr : RegisterUse::sgpr, write, o.reg, o.count});
}

void add_operation(std::vector<RegisterUse> &uses, const Operation &op) {
    std::string_view n = op.mnemonic;
    size_t written = destinations(op);
    for (size_t i = 0; i < op.operands.size(); ++i) {
        bool write = i < written || (n.starts_with("v_swap") && i == 1);
        if (write)
            add(uses, op.operands[i], true);
        if (!write || (i == 0 && accumulates(n)) || n.starts_with("v_swap"))
            add(uses, op.operands[i], false);
    }
    bool reads_vcc = n.starts_with("v_div_fmas") ||
                     (n == "v_dual_cndmask_b32" && op.operands.size() == 3) ||
                     n.starts_with("s_cbranch_vcc");
    if (reads_vcc)
        uses.push_back({RegisterUse::sgpr, false, sreg::vcc, 1});
    if (reads_scc(n))
        uses.push_back({RegisterUse::sgpr, false, sreg::scc, 1});
    if (writes_scc(n))
        uses.push_back({RegisterUse::sgpr, true, sreg::scc, 1});
}

} // namespace

std::vector<RegisterUse> register_uses(const Instruction &inst) {
    std::vector<RegisterUse> uses;
    add_operation(uses, inst.x);
    if (inst.y)
        add_operation(uses, *inst.y);
    return uses;
}

RegisterSet registers(const std::vector<RegisterUse> &uses) {
    RegisterSet set;
    for (const RegisterUse &use : uses)
        for (unsigned n = 0; n < use.count; ++n)
            set.add(use.place(n));
    return set;
}

Issues issues(const Instruction &inst, bool gfx12) {
    Issues r;
    auto on = [&](Counter c) { r.on[static_cast<int>(c)] = true; };
    const Operation &op = inst.x;
    std::string_view n = op.mnemonic;
    if (n.starts_with("s_load_") || n.starts_with("s_buffer_load_") ||
        n.starts_with("s_sendmsg_rtn") || n.starts_with("s_atc_probe"))
        on(Counter::smem);
    if (n.starts_with("ds_"))
        on(Counter::lds);
    if (gfx12 && n == "global_inv")
        on(Counter::load);
    if (gfx12 && (n == "global_wb" || n == "global_wbinv"))
        on(Counter::store);
    bool vector = n.starts_with("global_") || n.starts_with("flat_") || n.starts_with("scratch_") ||
                  n.starts_with("buffer_") || n.starts_with("tbuffer_");
    bool load = contains(n, "_load_"), store = contains(n, "_store_"),
         atomic = contains(n, "_atomic_");
    if (!vector || !(load || store || atomic))
        return r;
    on(load || (atomic && returns_atomic(op, {})) ? Counter::load : Counter::store);
    if (n.starts_with("flat_"))
        on(Counter::lds);
    return r;
}

WaitLimits wait_limits(const Instruction &inst, bool gfx12) {
    WaitLimits w;
    auto limit = [&](Counter c, u32 n) { w.limit[static_cast<int>(c)] = n; };
    std::string_view n = inst.x.mnemonic;
    u32 imm = inst.word0 & 0xffff;
    if (n == "s_waitcnt" && !gfx12) { // vmcnt[15:10], lgkmcnt[9:4]; a full field doesn't wait
        u32 vm = imm >> 10 & 63, lgkm = imm >> 4 & 63;
        limit(Counter::load, vm == 63 ? WaitLimits::unlimited : vm);
        limit(Counter::lds, lgkm == 63 ? WaitLimits::unlimited : lgkm);
        limit(Counter::smem, lgkm == 63 ? WaitLimits::unlimited : lgkm);
    } else if (n == "s_waitcnt_vscnt" || n == "s_wait_storecnt") {
        limit(Counter::store, imm);
    } else if (n == "s_waitcnt_vmcnt" || n == "s_wait_loadcnt") {
        limit(Counter::load, imm);
    } else if (n == "s_waitcnt_lgkmcnt") {
        limit(Counter::lds, imm);
        limit(Counter::smem, imm);
    } else if (n == "s_wait_dscnt") {
        limit(Counter::lds, imm);
    } else if (n == "s_wait_kmcnt") {
        limit(Counter::smem, imm);
    } else if (n == "s_wait_loadcnt_dscnt" || n == "s_wait_storecnt_dscnt") {
        limit(n == "s_wait_loadcnt_dscnt" ? Counter::load : Counter::store, imm >> 8 & 63);
        limit(Counter::lds, imm & 63);
    } else if (n == "s_wait_idle") {
        for (u32 &l : w.limit)
            l = 0;
    }
    return w;
}

} // namespace nw::sim

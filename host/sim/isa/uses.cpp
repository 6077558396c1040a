// SPDX-License-Identifier: MIT
#include "sim/isa/uses.h"

#include <set>
#include <string_view>

#include "sim/isa/tables/ops.h"

namespace nw::sim {

namespace {

bool contains(std::string_view s, std::string_view part) { return s.find(part) != s.npos; }

// Number of leading operands that are destinations.
size_t destinations(const Operation &op) {
    std::string_view n = op.mnemonic;
    if (n.starts_with("s_cmp") || n.starts_with("s_bitcmp") || n.starts_with("s_cbranch") ||
        n.starts_with("s_setpc") || n.starts_with("s_setreg") || n.starts_with("s_wait") ||
        n.starts_with("s_barrier") || n.starts_with("v_cmpx_") || n.starts_with("s_rfe") ||
        n.starts_with("s_prefetch") || n.starts_with("s_buffer_prefetch") ||
        n.starts_with("s_dcache") || n == "s_alloc_vgpr" || n.starts_with("s_sleep_var") ||
        n.starts_with("s_sendmsg") || n == "s_branch" || n.starts_with("s_delay_alu") ||
        n.starts_with("exp") || n.starts_with("image_store"))
        return n.starts_with("s_sendmsg_rtn") ? 1 : 0;
    if (MemoryOp m = find_scalar_write(n); m.access != Access::none)
        return m.updates() && returns_old_value(op, m) ? 1 : 0;
    if (MemoryOp m = find_memory_op(n); m.access != Access::none)
        return (m.loads() && !op.has("lds")) || (m.updates() && returns_old_value(op, m)) ? 1 : 0;
    if (n.starts_with("image_atomic"))
        return returns_old_value(op, {}) ? 1 : 0;
    bool carries = contains(n, "_co_") && n.starts_with("v_");
    return carries || n.starts_with("ds_bvh_stack") || // the address, too
                   n.starts_with("v_mad_u64") || n.starts_with("v_mad_i64") ||
                   n.starts_with("v_div_scale")
               ? 2
               : 1;
}

// The destination is also a source.
bool accumulates(std::string_view n) {
    return n.starts_with("v_fmac") || n.starts_with("v_mac_") || n == "v_dot4c_i32_i8" ||
           contains(n, "fmac") || contains(n, "dot2acc") || contains(n, "dot2c") ||
           n.starts_with("v_writelane") || n.starts_with("v_swap") || n.starts_with("s_addk") ||
           n.starts_with("s_mulk") || n.starts_with("s_cmov") || n.starts_with("s_bitset") ||
           n.starts_with("s_fmac") || n.starts_with("v_swmmac") || n.starts_with("v_cvt_sr_") ||
           find_scalar_write(n).updates();
}

bool reads_scc(std::string_view n) {
    for (std::string_view name : {"s_cselect_", "s_cmov", "s_addc_", "s_subb_", "s_add_co_ci_",
                                  "s_sub_co_ci_", "s_cbranch_scc"})
        if (n.starts_with(name))
            return true;
    return false;
}

// The scalar rows whose last column describes SCC, and the comparisons.
bool writes_scc(std::string_view n) {
    static const auto &names = *new auto([] {
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
#include "sim/isa/tables/salu.inc"
#undef SOP
#undef SOPK
#undef SCMP
#undef SCMPK
#undef SCMPB
#undef SCMPF
#undef SEXEC
#undef SFP
#undef SFPX
        for (const char *name : {"s_barrier_signal_isfirst", "s_barrier_leave", "s_alloc_vgpr"})
            s.insert(name);
        return s;
    }());
    return names.contains(n);
}

void add(std::vector<RegisterUse> &uses, const Operand &o, bool write, Operand::Half half) {
    bool is_vgpr = o.kind == Operand::Kind::vgpr;
    if (!is_vgpr && (o.kind != Operand::Kind::sgpr || o.reg == sreg::null || o.reg > sreg::scc))
        return;
    uses.push_back({is_vgpr ? RegisterUse::vgpr : RegisterUse::sgpr, write, o.reg, o.count,
                    !is_vgpr || half != Operand::Half::high,
                    !is_vgpr || half != Operand::Half::low});
}

// The half of a VGPR that operand n uses: by its name (v1.h), by a load's small-element rule, or by
// its type: low, or from op_sel, whose last value is the destination's.
Operand::Half half_of(const Operation &op, size_t n, const OpInfo &row) {
    if (op.operands[n].half != Operand::Half::none)
        return op.operands[n].half;
    if (const MemoryOp m = find_memory_op(op.mnemonic); m.loads())
        return n != 0 || m.extend < Extend::low_zero ? Operand::Half::none
               : m.extend < Extend::high_zero        ? Operand::Half::low
                                                     : Operand::Half::high;
    else if (m.access != Access::none && m.stores() && m.bytes < 4) {
        const bool data = n == (op.mnemonic.find("buffer_") != op.mnemonic.npos ? 0 : 1);
        return !data                           ? Operand::Half::none
               : m.extend >= Extend::high_zero ? Operand::Half::high
                                               : Operand::Half::low;
    }
    if (n == 0 && op.mnemonic == "v_fma_mixhi_f16")
        return Operand::Half::high;
    const Type types[] = {row.d, row.a, row.b, row.c};
    if (n >= std::size(types) || row.shape > Shape::acc || !is_half(types[n]))
        return Operand::Half::none;
    const Modifier *op_sel = op.modifier("op_sel");
    if (!op_sel || op_sel->values.empty() || op.mnemonic == "v_fma_mixlo_f16")
        return Operand::Half::low;
    const auto &high = op_sel->values;
    return (n == 0             ? high.back()
            : n <= high.size() ? high[n - 1]
                               : 0)
               ? Operand::Half::high
               : Operand::Half::low;
}

void add_operation(std::vector<RegisterUse> &uses, const Operation &op) {
    std::string_view n = op.mnemonic;
    size_t written = destinations(op);
    const OpInfo &row = info(find_op(n));
    for (size_t i = 0; i < op.operands.size(); ++i) {
        const bool updated = n.starts_with("v_swap") || (n.starts_with("ds_bvh_stack") && i == 1);
        bool write = i < written || (updated && i == 1);
        const Operand::Half half = half_of(op, i, row);
        if (write)
            add(uses, op.operands[i], true, half);
        if (!write || (i == 0 && accumulates(n)) || updated)
            add(uses, op.operands[i], false, half);
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

bool returns_old_value(const Operation &op, const MemoryOp &m) {
    const Modifier *th = op.modifier("th"); // th:TH_ATOMIC_RETURN, or with more behind it
    return m.returns || op.has("glc") || (th && contains(th->text, "RETURN"));
}

std::vector<RegisterUse> register_uses(const Instruction &inst) {
    std::vector<RegisterUse> uses;
    add_operation(uses, inst.x);
    if (inst.y)
        add_operation(uses, *inst.y);
    return uses;
}

std::vector<RegisterUse> register_uses(const Operation &op) {
    std::vector<RegisterUse> uses;
    add_operation(uses, op);
    return uses;
}

RegisterSet registers(const std::vector<RegisterUse> &uses) {
    RegisterSet set;
    for (const RegisterUse &use : uses)
        for (unsigned n = 0; n < use.count; ++n)
            set.add(use.place(n));
    return set;
}

namespace {

// Images: gfx12 has separate counters for loads with a sampler or a ray.
Issues image_issues(const Operation &op, bool gfx12) {
    const std::string_view n = op.mnemonic;
    const bool store = n.starts_with("image_store") ||
                       (n.starts_with("image_atomic") && !returns_old_value(op, {}));
    const bool sampler = n.starts_with("image_sample") || n.starts_with("image_gather4") ||
                         n.starts_with("image_msaa_load") || n.starts_with("image_get_lod");
    Issues r;
    r.kind = sampler ? Issues::sampler : n.starts_with("image_bvh") ? Issues::ray : Issues::plain;
    r.on[static_cast<int>(store                                 ? Counter::store
                          : gfx12 && sampler                    ? Counter::sample
                          : gfx12 && n.starts_with("image_bvh") ? Counter::bvh
                                                                : Counter::load)] = true;
    return r;
}

// Loads from LDS for pixel shaders count as exports.
bool counts_as_export(std::string_view n) {
    return n == "exp" || n.starts_with("export") || n.starts_with("lds_") ||
           n.starts_with("ds_param_load") || n.starts_with("ds_direct_load");
}

} // namespace

bool return_in_order(const Issues &older, const Issues &younger, const Target &target) {
    const auto both_only = [&](Counter c, Counter not_on) {
        const auto n = static_cast<int>(c), other = static_cast<int>(not_on);
        return older.on[n] && younger.on[n] && !older.on[other] && !younger.on[other];
    };
    if (both_only(Counter::lds, Counter::load))
        return true;
    if (target.generation == Generation::gfx12 || !both_only(Counter::load, Counter::lds))
        return false;
    // gfx11.5 may do a sample as a plain load.
    const bool two_samples = older.kind == Issues::sampler && younger.kind == Issues::sampler;
    return older.kind == younger.kind && !(two_samples && target.series & series::gfx115x);
}

bool clashes(const RegisterUse &loaded, const Issues &load, const RegisterUse &use,
             const Issues &user, const Target &target) {
    if (use.write && return_in_order(load, user, target))
        return false;
    RegisterUse whole = loaded;
    if (loaded.bank == RegisterUse::vgpr && target.generation != Generation::gfx10)
        whole.low = whole.high = true;
    return overlap(whole, use);
}

bool loads_to_lds(const Operation &op) { return op.has("lds") && contains(op.mnemonic, "_load_"); }

IsFirst is_first(const Operation &op) {
    IsFirst r;
    if (op.operands.empty() || op.operands[0].kind != Operand::Kind::integer)
        return r;
    if (op.mnemonic == "s_barrier_signal_isfirst")
        r.signalled = static_cast<i16>(op.operands[0].integer); // -1 may be written 0xffff
    if (op.mnemonic == "s_barrier_wait")
        r.awaited = static_cast<i16>(op.operands[0].integer);
    return r;
}

namespace {

// Scalar instructions with results, or SCC, that come by lgkmcnt or kmcnt.
bool answers_by_kmcnt(std::string_view n) {
    return n.starts_with("s_sendmsg_rtn") || n.starts_with("s_atc_probe") || n == "s_memtime" ||
           n == "s_memrealtime" || n == "s_get_waveid_in_workgroup" || n == "s_get_barrier_state" ||
           n == "s_barrier_signal_isfirst" || n == "s_barrier_leave";
}

} // namespace

Issues issues(const Instruction &inst, Generation generation) {
    const bool gfx12 = generation == Generation::gfx12;
    Issues r;
    auto on = [&](Counter c) { r.on[static_cast<int>(c)] = true; };
    const Operation &op = inst.x;
    std::string_view n = op.mnemonic;
    if (loads_scalars(n) || find_scalar_write(n).access != Access::none || answers_by_kmcnt(n))
        on(Counter::smem);
    if (counts_as_export(n))
        on(Counter::exp);
    else if (n.starts_with("ds_"))
        on(Counter::lds);
    if (n.starts_with("image_"))
        return image_issues(op, gfx12);
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
    on(load || (atomic && returns_old_value(op, {})) ? Counter::load : Counter::store);
    if (n.starts_with("flat_"))
        on(Counter::lds);
    return r;
}

namespace {

// s_waitcnt's fields; a full one doesn't wait.
void unpack(WaitLimits &w, u32 imm, Generation generation) {
    const bool gfx10 = generation == Generation::gfx10;
    const u32 vm = gfx10 ? (imm & 15) | (imm >> 14 & 3) << 4 : imm >> 10 & 63;
    const u32 lgkm = imm >> (gfx10 ? 8 : 4) & 63, exp = imm >> (gfx10 ? 4 : 0) & 7;
    const auto limit = [&](Counter c, u32 n, u32 full) {
        if (n != full)
            w.limit[static_cast<int>(c)] = n;
    };
    for (Counter c : {Counter::load, Counter::sample, Counter::bvh})
        limit(c, vm, 63);
    for (Counter c : {Counter::lds, Counter::smem})
        limit(c, lgkm, 63);
    limit(Counter::exp, exp, 7);
}

} // namespace

WaitLimits wait_limits(const Instruction &inst, Generation generation) {
    WaitLimits w;
    auto limit = [&](Counter c, u32 n) { w.limit[static_cast<int>(c)] = n; };
    std::string_view n = inst.x.mnemonic;
    u32 imm = inst.word0 & 0xffff;
    if (n == "s_waitcnt" && generation != Generation::gfx12) {
        unpack(w, imm, generation);
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
    } else if (n == "s_waitcnt_expcnt" || n == "s_wait_expcnt") {
        limit(Counter::exp, imm);
    } else if (n == "s_wait_samplecnt") {
        limit(Counter::sample, imm);
    } else if (n == "s_wait_bvhcnt") {
        limit(Counter::bvh, imm);
    } else if (n == "s_wait_idle") {
        for (u32 &l : w.limit)
            l = 0;
    }
    return w;
}

std::optional<AluLimits> alu_limits(const Instruction &inst) {
    if (inst.x.mnemonic != "s_waitcnt_depctr" && inst.x.mnemonic != "s_wait_alu")
        return std::nullopt;
    const auto field = [&](unsigned shift, unsigned bits) {
        return static_cast<u8>(inst.word0 >> shift & ((1u << bits) - 1));
    };
    return AluLimits{.va_vdst = field(12, 4),
                     .va_sdst = field(9, 3),
                     .va_vcc = field(1, 1),
                     .vm_vsrc = field(2, 3),
                     .sa_sdst = field(0, 1)};
}

} // namespace nw::sim

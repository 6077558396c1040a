// SPDX-License-Identifier: MIT
#include "sim/check/init.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/func/launch/launch.h"
#include "sim/func/launch/report.h"
#include "sim/isa/device.h"
#include "sim/isa/tables/memory_ops.h"
#include "sim/isa/tables/ops.h"

namespace nw::sim {

namespace {

// Values substituted for uninitialised bits: extremes of integers and floats, and one irregular
// pattern. Results are compared with those of the first.
constexpr u32 patterns[] = {0, ~0u, 0x3a5c96f1, 0x7fffffff, 0x80000000, 0x7f7fffff, 0xff7fffff};
// Two more trials substitute src0 and src1: a comparison may depend on equal operands.
constexpr unsigned trials = std::size(patterns) + 2;

// Dword `element` of the source in one lane, before the instruction.
u32 value_of(const Wave &w, const Source &s, unsigned element, unsigned half, unsigned lane) {
    element = std::min<unsigned>(element, s.rows - 1u);
    switch (s.kind) {
    case Source::vgpr:
        return w.v[half * vgpr_count + s.at + element].lane[lane];
    case Source::sgpr:
        return w.s[s.at + element];
    default:
        return w.constants[s.at + element].lane[0];
    }
}

u32 filling(const Wave &w, const Inst &i, unsigned trial, unsigned element, unsigned half = 0,
            unsigned lane = 0) {
    if (trial < std::size(patterns))
        return patterns[trial];
    unsigned n = trial - static_cast<unsigned>(std::size(patterns));
    if (i.cls == Class::salu && i.src[n].kind == Source::constant && i.src[n].value == 0)
        return static_cast<u32>(i.imm); // SOPK's constant
    return value_of(w, i.src[n], element, half, lane);
}

// Bits of a VGPR written lane by lane. 0: lanes mix, or not classified.
u32 bits_written(const Operation &op) {
    const Op row = find_op(op.mnemonic);
    const OpInfo &r = info(row);
    std::string_view n = op.mnemonic;
    bool by_lane = r.shape == Shape::lane || r.shape == Shape::acc || r.shape == Shape::mask ||
                   n.starts_with("v_mad_") || n.starts_with("v_div_") || n.starts_with("v_mbcnt") ||
                   n.starts_with("v_dot") || (n.starts_with("v_") && n.find("_co_") != n.npos);
    if (r.cls == Class::salu && r.shape != Shape::special)
        return ~0u;
    if (row == Op::none || !n.starts_with("v_") || !by_lane || op.dpp)
        return 0;
    if (r.shape == Shape::mask || !is_half(r.d))
        return ~0u;
    if (op.operands.empty() || op.has("op_sel") || row == Op::v_fma_mixhi_f16)
        return 0;
    return op.operands[0].half == Operand::Half::high ? 0xffff0000 : 0xffff;
}

u32 bits_written(const Instruction &inst) {
    return inst.y ? ~0u : bits_written(inst.x); // VOPD: only rows of whole dwords can pair
}

bool has_shadow(std::string_view n) {
    return n.starts_with("ds_") || n.starts_with("flat_") || n.starts_with("scratch_") ||
           n.starts_with("buffer_"); // gfx10's may be scratch
}

bool on_memory(std::string_view n) {
    return n.starts_with("global_") || n.starts_with("flat_") || n.starts_with("buffer_") ||
           n.starts_with("tbuffer_");
}

} // namespace

InitFacts::InitFacts(const Code &code) {
    entries.reserve(code.instructions.size());
    for (const Instruction &inst : code.instructions) {
        Entry e;
        if (!inst.text.empty()) {
            e.uses = register_uses(inst);
            e.overwrites = bits_written(inst);
            e.relative = relative_move(inst.x.mnemonic);
            e.always = e.relative || loads_scalars(inst.x.mnemonic) ||
                       (has_shadow(inst.x.mnemonic) &&
                        find_memory_op(inst.x.mnemonic).access != Access::none);
            e.on_memory = on_memory(inst.x.mnemonic);
        }
        entries.push_back(std::move(e));
    }
}

void InitCheck::reset(const Wave &w) {
    halves_ = w.halves;
    v_.resize(size_t{halves_} * vgpr_count);
    trial_.resize(v_.size());
    std::memset(v_.data(), 0xff, v_.size() * sizeof(Row));
    std::memset(lanes_, 0xff, sizeof lanes_);
    poisoned_.clear();
    for (unsigned reg = 0; reg < vgpr_count; ++reg)
        poisoned_.add(RegisterSet::of_vgpr(reg));
    const u32 ids = item_id_vgprs(*w.context->dispatch.kernel, *w.context->device.target);
    for (unsigned reg = 0; reg < ids; ++reg)
        initialise(w, reg, ~0u);
    for (unsigned reg = 0; reg < slot::count; ++reg)
        set_sgpr(reg, w.s[reg] == poison && reg < sreg::null ? ~0u : 0);
    for (unsigned reg : {sreg::m0, sreg::scc})
        set_sgpr(reg, ~0u);
    scratch_.assign(size_t{w.scratch_bytes} * row_lanes * halves_, 0xff);
    read_unwritten_ = 0;
}

// ---- which registers are poisoned ---------------------------------------------------------------

void InitCheck::note(unsigned reg) {
    u32 any = 0;
    for (unsigned half = 0; half < halves_; ++half) {
        u32 lanes = 0;
        const Row &bits = shadow(reg, half);
        for (unsigned l = 0; l < row_lanes; ++l)
            lanes |= u32{bits.lane[l] != 0} << l;
        lanes_[half][reg] = lanes;
        any |= lanes;
    }
    any ? poisoned_.add(RegisterSet::of_vgpr(reg)) : poisoned_.remove(RegisterSet::of_vgpr(reg));
}

void InitCheck::set_sgpr(unsigned reg, u32 bits) {
    s_[reg] = bits;
    const unsigned place = RegisterSet::of_sgpr(reg);
    bits ? poisoned_.add(place) : poisoned_.remove(place);
}

bool InitCheck::reads_poison(const Wave &w, const Entry &e) const {
    for (const RegisterUse &use : e.uses)
        for (unsigned n = 0; !use.write && n < use.count; ++n) {
            if (!poisoned_.has(use.place(n)))
                continue;
            if (use.bank == RegisterUse::sgpr)
                return true;
            for (unsigned half = 0; half < halves_; ++half)
                if (poisoned_lanes(w, use.first + n, half))
                    return true;
        }
    return false;
}

// Marks these bits of the register's active lanes as initialised.
void InitCheck::initialise(const Wave &w, unsigned reg, u32 bits) {
    reg &= 255;
    u32 any = 0;
    for (unsigned half = 0; half < halves_; ++half) {
        u32 exec = w.exec(half), lanes = 0;
        if (!(lanes_[half][reg] & exec)) {
            any |= lanes_[half][reg];
            continue;
        }
        Row &r = shadow(reg, half);
        if ((exec & bits) == ~0u) {
            r = {};
            lanes_[half][reg] = 0;
            continue;
        }
        for (unsigned l = 0; l < row_lanes; ++l) {
            r.lane[l] &= exec >> l & 1 ? ~bits : ~0u;
            lanes |= u32{r.lane[l] != 0} << l;
        }
        lanes_[half][reg] = lanes;
        any |= lanes;
    }
    if (!any)
        poisoned_.remove(RegisterSet::of_vgpr(reg));
}

void InitCheck::overwrite(const Wave &w, const Entry &e) {
    for (const RegisterUse &use : e.uses)
        for (unsigned n = 0; use.write && n < use.count; ++n)
            if (use.bank == RegisterUse::vgpr) {
                initialise(w, use.first + n, e.overwrites);
            } else {
                set_sgpr(use.first + n, 0);
            }
}

void InitCheck::step(const Wave &w, const Inst &i) {
    const Entry &e = facts_->entries[i.index];
    switch (i.cls) {
    case Class::valu:
    case Class::vopd:
    case Class::trans:
    case Class::salu:
        if (e.overwrites && !reads_poison(w, e))
            return overwrite(w, e);
        return e.relative ? move_relative(w, i, e) : differ(w, i, e.uses);
    case Class::wmma:
        return differ(w, i, e.uses);
    case Class::smem:
        return scalar_load(w, i);
    case Class::vmem_load:
    case Class::vmem_store:
    case Class::lds:
        memory(w, i);
        return global(w, i);
    case Class::branch:
        return branch(w, i);
    default:
        break;
    }
}

// ---- instructions that compute ------------------------------------------------------------------

// Sets trial_ and `trial` to a copy of the wave with its uninitialised bits replaced.
void InitCheck::fill(Wave &trial, const Wave &w, const Inst &i, unsigned number,
                     const std::vector<RegisterUse> &uses) {
    for (const RegisterUse &use : uses) {
        if (use.bank == RegisterUse::sgpr)
            continue;
        for (unsigned n = 0; n < use.count; ++n)
            for (unsigned half = 0; half < halves_; ++half) {
                unsigned reg = (use.first + n) & 255;
                const u32 *real = w.v[half * vgpr_count + reg].lane, *bits = shadow(reg, half).lane;
                for (unsigned l = 0; l < row_lanes; ++l)
                    trial.row(reg, half)[l] =
                        (real[l] & ~bits[l]) | (filling(w, i, number, n, half, l) & bits[l]);
            }
    }
    for (const RegisterUse &use : uses)
        for (unsigned n = 0; use.bank == RegisterUse::sgpr && n < use.count; ++n) {
            unsigned reg = use.first + n;
            trial.s[reg] = (w.s[reg] & ~s_[reg]) | (filling(w, i, number, n) & s_[reg]);
        }
    if (s_[sreg::scc])
        trial.s[sreg::scc] = number & 1;
}

void InitCheck::differ(const Wave &w, const Inst &i, const std::vector<RegisterUse> &uses) {
    std::vector<u16> vgprs;
    for (const RegisterUse &use : uses)
        for (unsigned n = 0; use.bank == RegisterUse::vgpr && n < use.count; ++n)
            vgprs.push_back((use.first + n) & 255);
    std::vector<Row> base, differing(vgprs.size() * halves_, Row{});
    u32 base_s[slot::count], differing_s[slot::count] = {};
    for (unsigned number = 0; number < trials; ++number) {
        Wave trial = w;
        trial.v = trial_.data();
        fill(trial, w, i, number, uses);
        i.run(trial, i);
        size_t at = 0;
        for (u16 reg : vgprs)
            for (unsigned half = 0; half < halves_; ++half, ++at) {
                const Row &now = trial.v[half * vgpr_count + reg];
                if (number == 0)
                    base.push_back(now);
                for (unsigned l = 0; l < row_lanes; ++l)
                    differing[at].lane[l] |= now.lane[l] ^ base[at].lane[l];
            }
        if (number == 0)
            std::copy(std::begin(trial.s), std::end(trial.s), base_s);
        for (unsigned reg = 0; reg < slot::count; ++reg)
            differing_s[reg] |= trial.s[reg] ^ base_s[reg];
    }
    size_t at = 0;
    for (u16 reg : vgprs) {
        for (unsigned half = 0; half < halves_; ++half)
            shadow(reg, half) = differing[at++];
        note(reg);
    }
    for (const RegisterUse &use : uses)
        for (unsigned n = 0; use.bank == RegisterUse::sgpr && n < use.count; ++n)
            set_sgpr(use.first + n, differing_s[use.first + n]);
    for (unsigned implied : {sreg::scc, sreg::exec, static_cast<u16>(sreg::exec + 1)})
        set_sgpr(implied, differing_s[implied]);
    if (s_[sreg::exec] || (halves_ == 2 && s_[sreg::exec + 1])) {
        report(w, i, "the new EXEC", "a lane mask");
        set_sgpr(sreg::exec, 0);
        set_sgpr(sreg::exec + 1, 0);
    }
}

void InitCheck::move_relative(const Wave &w, const Inst &i, const Entry &e) {
    if (s_[sreg::m0] & e.relative->bits())
        require_sgpr(w, i, sreg::m0, "the number of a register");
    const bool scalar = i.cls == Class::salu;
    const RegisterUse::Bank bank = scalar ? RegisterUse::sgpr : RegisterUse::vgpr;
    const u16 count = i.src[0].rows;
    const RelativeMove::Registers at = e.relative->registers(
        w.s[sreg::m0], i.src[0].at, i.dst, count, scalar ? u32{selected_sgprs} : vgpr_count);
    if (!at.exist)
        return;
    std::vector<RegisterUse> uses{{bank, true, static_cast<u16>(at.destination), count}};
    if (i.src[0].kind != Source::constant)
        uses.push_back({i.src[0].kind == Source::vgpr ? RegisterUse::vgpr : RegisterUse::sgpr, true,
                        static_cast<u16>(at.source), count}); // v_swaprel writes it
    differ(w, i, uses);
}

void InitCheck::branch(const Wave &w, const Inst &i) {
    std::string_view name = w.context->code.code->instructions[i.index].x.mnemonic;
    if (name.starts_with("s_cbranch_scc"))
        require_sgpr(w, i, sreg::scc, "a branch condition");
    if (name.starts_with("s_cbranch_vcc"))
        for (unsigned half = 0; half < halves_; ++half)
            require_sgpr(w, i, sreg::vcc + half, "a branch condition");
    if (name == "s_setpc_b64" || name == "s_swappc_b64") {
        require_sgpr(w, i, i.src[0].at, "a jump target");
        require_sgpr(w, i, i.src[0].at + 1, "a jump target");
    }
    if (name == "s_swappc_b64" || name == "s_call_b64")
        for (unsigned n : {0u, 1u})
            set_sgpr(i.dst + n, 0);
}

// ---- reports ------------------------------------------------------------------------------------

void InitCheck::require_vgpr(const Wave &w, const Inst &i, unsigned reg, const char *purpose,
                             u32 bits) {
    for (unsigned half = 0; half < halves_; ++half)
        require_lanes(w, i, reg, half, poisoned_lanes(w, reg, half), purpose, bits);
}

// A value is reported at its first use, and counts as initialised after it.
void InitCheck::require_lanes(const Wave &w, const Inst &i, unsigned reg, unsigned half, u32 lanes,
                              const char *purpose, u32 bits) {
    bool found = false;
    for_lanes(lanes, [&](unsigned l) {
        u32 &uninitialised = shadow(reg & 255, half).lane[l];
        if (!(uninitialised & bits))
            return;
        const unsigned lane = l + half * row_lanes;
        report(w, i, fmt::format("v{} of lane {}", reg, lane), purpose, static_cast<int>(lane));
        uninitialised &= ~bits;
        found = true;
    });
    if (found)
        note(reg & 255);
}

void InitCheck::require_sgpr(const Wave &w, const Inst &i, unsigned reg, const char *purpose) {
    if (!s_[reg])
        return;
    std::string name = reg == sreg::scc   ? "SCC"
                       : reg == sreg::vcc ? "VCC"
                       : reg == sreg::m0  ? "m0"
                                          : fmt::format("s{}", reg);
    report(w, i, name, purpose);
    set_sgpr(reg, 0);
}

void InitCheck::report(const Wave &w, const Inst &i, const std::string &what, const char *purpose,
                       int lane) {
    Report r;
    r.lane = lane;
    std::string text =
        fmt::format("init: {} is computed from registers, LDS, memory or bytes behind an "
                    "allocation that nothing has written, and is used as {}",
                    what, purpose);
    if (read_unwritten_) {
        const Origin place = w.context->memory.nearest(read_unwritten_);
        text += fmt::format("; the wave last read such memory at byte {} of {}",
                            read_unwritten_ - place.begin, place.maker);
    }
    finding(w, i, std::move(text), std::move(r));
}

} // namespace nw::sim

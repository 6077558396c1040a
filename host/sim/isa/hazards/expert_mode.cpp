// SPDX-License-Identifier: MIT
#include "sim/isa/hazards/expert_mode.h"

#include <algorithm>

namespace nw::sim {

namespace {

constexpr u32 hw_sched_mode = 26;

ExpertRole::Class class_of(std::string_view n, const HazardRole &r) {
    if (r.unit == HazardRole::valu)
        return r.matrix                   ? ExpertRole::matrix
               : r.trans                  ? ExpertRole::trans
               : n.find("_f64") != n.npos ? ExpertRole::f64
                                          : ExpertRole::plain;
    if (r.unit != HazardRole::memory || n.starts_with("exp"))
        return ExpertRole::none;
    return n.starts_with("ds_")     ? ExpertRole::lds
           : n.starts_with("flat_") ? ExpertRole::flat
                                    : ExpertRole::vmem;
}

// Instructions that a wait for results leaves outstanding have read their registers. As in LLVM, a
// wait for any counter of memory instructions counts.
u8 vsrc_of(const WaitLimits &limits) {
    u32 least = ExpertRole::all_vm;
    for (Counter c : {Counter::load, Counter::store, Counter::lds, Counter::sample, Counter::bvh})
        least = std::min(least, limits.limit[static_cast<size_t>(c)]);
    return static_cast<u8>(least);
}

} // namespace

ExpertRole expert_role(const Instruction &inst, const HazardRole &role) {
    ExpertRole r;
    if (inst.text.empty())
        return r;
    const std::string_view n = inst.x.mnemonic;
    const u32 imm = inst.word0 & 0xffff;
    r.cls = class_of(n, role);
    if (const auto limits = alu_limits(inst)) {
        r.vdst = limits->va_vdst;
        r.vsrc = limits->vm_vsrc;
    } else {
        r.vsrc = vsrc_of(wait_limits(inst, Generation::gfx12));
    }
    const u32 id = imm & 63, offset = imm >> 6 & 31;
    if (n.starts_with("s_setreg") && id == hw_sched_mode && offset < 2) {
        r.sets_mode = true;
        if (n == "s_setreg_imm32_b32" && offset == 0 && (imm >> 11 & 31) != 0)
            r.mode = static_cast<u8>(inst.word1 & expert_bits);
    }
    return r;
}

bool ExpertRecent::join(const ExpertRecent &o) {
    bool news = (o.normal_ && !normal_) || (o.expert_ && !expert_);
    normal_ |= o.normal_, expert_ |= o.expert_;
    for (const Flight &f : o.flights_) {
        const auto at = std::ranges::lower_bound(flights_, f.instruction, {}, &Flight::instruction);
        if (at == flights_.end() || at->instruction != f.instruction) {
            flights_.insert(at, f);
            news = true;
        } else if (f.younger < at->younger) {
            at->younger = f.younger;
            news = true;
        }
    }
    return news;
}

void ExpertHazards::step(ExpertRecent &state, u32 index, std::optional<u8> mode,
                         const Report &report) const {
    const ExpertRole &r = roles_(index).second;
    if (r.sets_mode) {
        const std::optional<u8> set = r.mode ? r.mode : mode;
        state.expert_ = !set || *set == expert_mode;
        state.normal_ = !set || *set != expert_mode;
    }
    std::erase_if(state.flights_, [&](const ExpertRecent::Flight &f) {
        const ExpertRole &was = roles_(f.instruction).second;
        return f.younger >= (was.vector() ? r.vdst : r.vsrc);
    });
    if (state.expert_)
        look(state, index, report);
    if (r.cls != ExpertRole::none)
        issue(state, index);
}

// The hardware orders vector instructions among each other.
void ExpertHazards::look(const ExpertRecent &state, u32 index, const Report &report) const {
    const auto &[role, r] = roles_(index);
    for (const ExpertRecent::Flight &f : state.flights_) {
        const auto &[earlier, was] = roles_(f.instruction);
        if (was.vector() && r.vector())
            continue;
        for (const RegisterUse &use : role.uses)
            for (const RegisterUse &e : earlier.uses)
                if (use.bank == RegisterUse::vgpr && overlap(use, e) &&
                    (use.write || (e.write && was.vector())) && (was.vector() || !e.write))
                    return report(use, f.instruction);
    }
}

void ExpertHazards::issue(ExpertRecent &state, u32 index) const {
    const ExpertRole &r = roles_(index).second;
    for (ExpertRecent::Flight &f : state.flights_)
        f.younger += roles_(f.instruction).second.cls == r.cls;
    std::erase_if(state.flights_, [&](const ExpertRecent::Flight &f) {
        return f.instruction == index ||
               f.younger >= (roles_(f.instruction).second.vector() ? ExpertRole::all_va
                                                                   : ExpertRole::all_vm);
    });
    const auto at =
        std::ranges::lower_bound(state.flights_, index, {}, &ExpertRecent::Flight::instruction);
    state.flights_.insert(at, {index, 0});
}

} // namespace nw::sim

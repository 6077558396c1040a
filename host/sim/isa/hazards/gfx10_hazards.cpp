// SPDX-License-Identifier: MIT
#include "sim/isa/hazards/gfx10_hazards.h"

#include <algorithm>

namespace nw::sim {

namespace {

constexpr u32 none = Gfx10Recent::none;

bool join_one(u32 &mine, u32 other) {
    if (mine != none || other == none)
        return false;
    mine = other;
    return true;
}
template <size_t n> bool join_all(std::array<u32, n> &mine, const std::array<u32, n> &other) {
    bool news = false;
    for (size_t i = 0; i < n; ++i)
        news |= join_one(mine[i], other[i]);
    return news;
}

template <class F> void for_each_sgpr(const HazardRole &r, bool write, F f) {
    for (const RegisterUse &use : r.uses)
        for (unsigned n = use.first; use.bank == RegisterUse::sgpr && use.write == write &&
                                     n < use.first + use.count && n < sreg::scc;
             ++n)
            f(n);
}

} // namespace

bool Gfx10Recent::Readers::join(const Readers &other) {
    const Sgprs news = other.live & ~live;
    for_each(news, [&](unsigned reg) { add(reg, other.last[reg]); });
    return news != 0;
}

bool Gfx10Recent::ages() const {
    return image_ != none || atomic_ != none || vmem_[0].live || vmem_[1].live || vmem_[2].live;
}

bool Gfx10Recent::join(const Gfx10Recent &o) {
    bool news = join_one(exec_reader_, o.exec_reader_) | join_all(last_, o.last_) |
                join_all(behind_, o.behind_) | smem_.join(o.smem_) | join_one(image_, o.image_);
    for (size_t n = 0; n < vmem_.size(); ++n)
        news |= vmem_[n].join(o.vmem_[n]);
    if (o.atomic_ != none && (atomic_ == none || o.states_ < states_)) {
        atomic_ = o.atomic_, states_ = o.states_;
        news = true;
    }
    return news;
}

void Gfx10Hazards::step(Gfx10Recent &state, u32 i, const HazardRole &r, const Gfx10Role &old,
                        const Report &report) const {
    if (gfx101x_) {
        step_exec(state, i, r, old, report);
        step_branch(state, i, old, report);
        step_smem(state, i, r, old, report);
        step_vmem(state, i, r, old, report);
        step_own(state, i, old, report);
    }
    step_denorm(state, i, r, old, report);
    if (r.jump)
        state.forget();
}

// H-016
void Gfx10Hazards::step_exec(Gfx10Recent &state, u32 i, const HazardRole &r, const Gfx10Role &old,
                             const Report &report) {
    if (r.cmpx && state.exec_reader_ != none)
        report(Hazard::exec_war, state.exec_reader_, sreg::exec, "");
    if (r.cmpx || old.scalar_dst || r.sa_sdst)
        state.exec_reader_ = none;
    if (old.reads_exec)
        state.exec_reader_ = i;
}

// H-017
void Gfx10Hazards::step_branch(Gfx10Recent &state, u32 i, const Gfx10Role &old,
                               const Report &report) {
    if (old.waits_store)
        state.last_ = state.behind_ = {none, none};
    if (old.branch)
        state.behind_ = state.last_;
    if (!old.load && !old.store && !old.lds)
        return;
    const bool memory = old.load || old.store; // flat ones, too
    if (state.behind_[!memory] != none)
        report(Hazard::lds_branch, state.behind_[!memory], 0, memory ? "memory" : "LDS");
    state.last_ = state.behind_ = {none, none};
    state.last_[memory] = i;
}

// H-018
void Gfx10Hazards::step_smem(Gfx10Recent &state, u32 i, const HazardRole &r, const Gfx10Role &old,
                             const Report &report) {
    if (old.resolves_smem)
        state.smem_.live = 0;
    if (r.unit == HazardRole::valu)
        for_each_sgpr(r, true, [&](unsigned n) {
            if (const u32 reader = state.smem_.of(n); reader != none)
                report(Hazard::smem_write, reader, n, "");
        });
    if (old.smem)
        for_each_sgpr(r, false, [&](unsigned n) { state.smem_.add(n, i); });
}

// H-019
void Gfx10Hazards::step_vmem(Gfx10Recent &state, u32 i, const HazardRole &r, const Gfx10Role &old,
                             const Report &report) {
    const bool resolves = r.unit == HazardRole::valu || r.vm_vsrc;
    const std::array<bool, 3> gone{old.waits_load, old.waits_store, old.waits_lds},
        here{old.load, old.store, old.lds};
    for (size_t n = 0; n < gone.size(); ++n)
        if (resolves || gone[n])
            state.vmem_[n].live = 0;
    if (old.salu || old.smem) {
        const auto look = [&](unsigned reg) {
            for (const Gfx10Recent::Readers &readers : state.vmem_)
                if (const u32 reader = readers.of(reg); reader != none)
                    return report(Hazard::vmem_write, reader, reg, "");
        };
        for_each_sgpr(r, true, look); // EXEC as operand alone, as LLVM has it
    }
    for (size_t n = 0; n < here.size(); ++n) {
        if (!here[n])
            continue;
        Gfx10Recent::Readers &readers = state.vmem_[n];
        for_each_sgpr(r, false, [&](unsigned reg) { readers.add(reg, i); });
        readers.add(sreg::exec, i), readers.add(sreg::exec + 1, i);
        if (old.reads_m0)
            readers.add(sreg::m0, i);
    }
}

// H-020, H-021, H-022, H-024
void Gfx10Hazards::step_own(Gfx10Recent &state, u32 i, const Gfx10Role &old, const Report &report) {
    if (old.offset_6 && state.image_ != none)
        report(Hazard::nsa_buffer, state.image_, 0, "the offset");
    state.image_ = old.image_16 ? i : none;
    if (old.branch_3f)
        report(Hazard::branch_3f, none, 0, "the branch");
    if (old.flat_offset)
        report(Hazard::flat_offset, none, 0, "the offset");
    if (old.inst_prefetch)
        report(Hazard::inst_prefetch, none, 0, "it");
}

// H-023
void Gfx10Hazards::step_denorm(Gfx10Recent &state, u32 i, const HazardRole &r, const Gfx10Role &old,
                               const Report &report) {
    if (old.denorm_mode && state.atomic_ != none)
        report(Hazard::denorm_mode, state.atomic_, 0, "the mode of denormals");
    state.states_ += old.wait_states;
    if (r.unit == HazardRole::valu || old.waits || state.states_ >= denorm_window)
        state.atomic_ = none;
    if (old.fp_atomic)
        state.atomic_ = i, state.states_ = 0;
}

} // namespace nw::sim

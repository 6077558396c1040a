// SPDX-License-Identifier: MIT
// H-016 to H-024: hazards of gfx10 only.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "lint/hazards.h"
#include "lint/solve.h"

namespace nw::lint {

namespace {

using namespace sim;
constexpr u32 none = Finding::nothing;

// For each SGPR, EXEC and M0 included: the last instruction that may still read it.
using Readers = std::array<u32, sreg::scc>;

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

// The recent instructions that can still conflict with the next one.
struct Recent {
    u32 exec_reader = none;                // H-016
    std::array<u32, 2> last{none, none};   // H-017: LDS, memory; at most one on each path
    std::array<u32, 2> behind{none, none}; // and before a branch
    Readers smem;                          // H-018
    std::array<Readers, 3> vmem;           // H-019: loads, stores, LDS
    u32 image = none;                      // H-020
    u32 atomic = none;                     // H-023
    unsigned states = 0;                   // since then

    Recent() {
        smem.fill(none);
        for (Readers &r : vmem)
            r.fill(none);
    }
    void forget() { *this = {}; }
    bool join(const Recent &o) {
        bool news = join_one(exec_reader, o.exec_reader) | join_all(last, o.last) |
                    join_all(behind, o.behind) | join_all(smem, o.smem) | join_one(image, o.image);
        for (size_t n = 0; n < vmem.size(); ++n)
            news |= join_all(vmem[n], o.vmem[n]);
        if (o.atomic != none && (atomic == none || o.states < states)) {
            atomic = o.atomic, states = o.states;
            news = true;
        }
        return news;
    }
};

template <class F> void for_each_sgpr(const HazardRole &r, bool write, F f) {
    for (const RegisterUse &use : r.uses)
        for (unsigned n = use.first; use.bank == RegisterUse::sgpr && use.write == write &&
                                     n < use.first + use.count && n < sreg::scc;
             ++n)
            f(n);
}

class Gfx10 {
public:
    Gfx10(const Flow &flow, const Facts &facts) : facts_(facts) {
        for (const Block &b : flow.blocks())
            for (u32 i = b.first; i < b.end; ++i) {
                if (roles_.size() <= i)
                    roles_.resize(i + 1);
                roles_[i] = gfx10_role(flow.code().instructions[i], facts[i].role);
            }
    }

    // Reports where `found` is not null.
    void step(Recent &state, u32 i, Findings *found) const {
        const HazardRole &r = facts_[i].role;
        const Gfx10Role &old = roles_[i];
        if (facts_.has(Hazard::exec_war)) {
            step_exec(state, i, r, old, found);
            step_branch(state, i, old, found);
            step_smem(state, i, r, old, found);
            step_vmem(state, i, r, old, found);
            step_own(state, i, old, found);
        }
        step_denorm(state, i, r, old, found);
        if (r.jump)
            state.forget();
    }

private:
    static void add(Findings *to, Hazard h, u32 i, u32 other, std::string_view subject) {
        if (to)
            to->push_back(finding_of(h, i, other, subject));
    }
    static void add(Findings *to, Hazard h, u32 i, u32 other, unsigned sgpr) {
        add(to, h, i, other, register_name(RegisterUse::sgpr, sgpr));
    }

    // H-016
    static void step_exec(Recent &state, u32 i, const HazardRole &r, const Gfx10Role &old,
                          Findings *found) {
        if (r.cmpx && state.exec_reader != none)
            add(found, Hazard::exec_war, i, state.exec_reader, sreg::exec);
        if (r.cmpx || old.scalar_dst || r.sa_sdst)
            state.exec_reader = none;
        if (old.reads_exec)
            state.exec_reader = i;
    }

    // H-017
    static void step_branch(Recent &state, u32 i, const Gfx10Role &old, Findings *found) {
        if (old.waits_store)
            state.last = state.behind = {none, none};
        if (old.branch)
            state.behind = state.last;
        if (!old.load && !old.store && !old.lds)
            return;
        const bool memory = old.load || old.store; // flat ones, too
        if (state.behind[!memory] != none)
            add(found, Hazard::lds_branch, i, state.behind[!memory], memory ? "memory" : "LDS");
        state.last = state.behind = {none, none};
        state.last[memory] = i;
    }

    // H-018
    static void step_smem(Recent &state, u32 i, const HazardRole &r, const Gfx10Role &old,
                          Findings *found) {
        if (old.resolves_smem)
            state.smem.fill(none);
        if (r.unit == HazardRole::valu)
            for_each_sgpr(r, true, [&](unsigned n) {
                if (state.smem[n] != none)
                    add(found, Hazard::smem_write, i, state.smem[n], n);
            });
        if (old.smem)
            for_each_sgpr(r, false, [&](unsigned n) { state.smem[n] = i; });
    }

    // H-019
    static void step_vmem(Recent &state, u32 i, const HazardRole &r, const Gfx10Role &old,
                          Findings *found) {
        const bool resolves = r.unit == HazardRole::valu || r.vm_vsrc;
        const std::array<bool, 3> gone{old.waits_load, old.waits_store, old.waits_lds},
            here{old.load, old.store, old.lds};
        for (size_t n = 0; n < gone.size(); ++n)
            if (resolves || gone[n])
                state.vmem[n].fill(none);
        if (old.salu || old.smem) {
            const auto look = [&](unsigned reg) {
                for (const Readers &readers : state.vmem)
                    if (readers[reg] != none)
                        return add(found, Hazard::vmem_write, i, readers[reg], reg);
            };
            for_each_sgpr(r, true, look);
            if (r.writes_exec)
                look(sreg::exec);
        }
        for (size_t n = 0; n < here.size(); ++n) {
            if (!here[n])
                continue;
            for_each_sgpr(r, false, [&](unsigned reg) { state.vmem[n][reg] = i; });
            state.vmem[n][sreg::exec] = state.vmem[n][sreg::exec + 1] = i;
            if (old.reads_m0)
                state.vmem[n][sreg::m0] = i;
        }
    }

    // H-020, H-021, H-022, H-024
    static void step_own(Recent &state, u32 i, const Gfx10Role &old, Findings *found) {
        if (old.offset_6 && state.image != none)
            add(found, Hazard::nsa_buffer, i, state.image, "the offset");
        state.image = old.image_16 ? i : none;
        if (old.branch_3f)
            add(found, Hazard::branch_3f, i, none, "the branch");
        if (old.flat_offset)
            add(found, Hazard::flat_offset, i, none, "the offset");
        if (old.inst_prefetch)
            add(found, Hazard::inst_prefetch, i, none, "it");
    }

    // H-023
    static void step_denorm(Recent &state, u32 i, const HazardRole &r, const Gfx10Role &old,
                            Findings *found) {
        if (old.denorm_mode && state.atomic != none)
            add(found, Hazard::denorm_mode, i, state.atomic, "the mode of denormals");
        state.states += old.wait_states;
        if (r.unit == HazardRole::valu || old.waits || state.states >= denorm_window)
            state.atomic = none;
        if (old.fp_atomic)
            state.atomic = i, state.states = 0;
    }

    const Facts &facts_;
    std::vector<Gfx10Role> roles_; // by instruction
};

} // namespace

void find_gfx10_hazards(const Flow &flow, const Facts &facts, Findings &found) {
    const Gfx10 hazards(flow, facts);
    const auto at =
        solve(flow, Recent{}, [&](Recent &state, u32 i) { hazards.step(state, i, nullptr); });
    each_state(flow, at, [&](Recent &state, u32 i) { hazards.step(state, i, &found); });
}

} // namespace nw::lint

// SPDX-License-Identifier: MIT
#include "lint/hazards.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <tuple>

#include "lint/solve.h"

namespace nw::lint {

namespace {

using namespace sim;

// Merges two values of the same property: the one that conflicts sooner.
template <class T> bool take_less(T &mine, const T &other) {
    if (other >= mine)
        return false;
    mine = other;
    return true;
}
bool take_all(Sgprs &mine, Sgprs other) {
    const bool news = other & ~mine;
    mine |= other;
    return news;
}

// The recent instructions that can still conflict with the next one.
struct Recent {
    // H-003: transcendental instructions, and the minimum number issued since.
    struct Trans {
        u32 instruction;
        unsigned valu = 0, trans = 0;
        RegisterHalves written;
    };
    std::vector<Trans> trans;

    // H-006, H-007: the last vector instruction, if it may be one of these.
    std::set<u32> neighbours;

    // H-002, H-005: SGPRs that vector instructions have read (and the other of the pair), or used
    // as masks, and those of them that have been overwritten since.
    Sgprs read = 0, by_salu = 0, by_valu = 0;
    std::array<u32, sreg::null> writer = {};
    std::array<u8, sreg::null> since = {}; // scalar instructions
    unsigned ds_nops = 0;

    void forget() { *this = {}; }
    bool join(const Recent &);
};

bool Recent::join(const Recent &o) {
    bool news = false;
    for (const Trans &t : o.trans) {
        const auto same = std::ranges::find(trans, t.instruction, &Trans::instruction);
        if (same == trans.end()) {
            trans.push_back(t);
            news = true;
            continue;
        }
        news |= take_less(same->valu, t.valu);
        news |= take_less(same->trans, t.trans);
        news |= same->written.add_all(t.written);
    }
    const size_t before = neighbours.size();
    neighbours.insert(o.neighbours.begin(), o.neighbours.end());
    news |= neighbours.size() != before;
    const Sgprs mine = by_salu | by_valu;
    for_each(o.by_salu | o.by_valu, [&](unsigned reg) {
        if (!(mine >> reg & 1))
            writer[reg] = o.writer[reg], since[reg] = o.since[reg];
        else
            news |= take_less(since[reg], o.since[reg]);
    });
    news |= take_all(read, o.read);
    news |= take_all(by_salu, o.by_salu);
    news |= take_all(by_valu, o.by_valu);
    news |= take_less(ds_nops, o.ds_nops);
    return news;
}

class Hazards {
public:
    Hazards(const Flow &flow, const Facts &facts)
        : flow_(flow), code_(flow.code()), facts_(facts),
          ds_nops_(facts.wave_size() == 64 ? ds_nops_wave64 : ds_nops_wave32) {}

    // Reports where `found` is not null.
    void step(Recent &, u32 i, Findings *found) const;
    void find_own(u32 i, Findings &) const;

private:
    void step_trans(Recent &, u32 i, const HazardRole &, Findings *) const;
    void step_masks(Recent &, u32 i, const HazardRole &, Findings *) const;
    void step_sgprs(Recent &, u32 i, const HazardRole &, Findings *) const;
    void step_neighbours(Recent &, u32 i, const HazardRole &, Findings *) const;
    static void note_writes(Recent &, u32 i, const HazardRole &);
    static void cross_call(Recent &, const HazardRole &, bool reads_stay);

    void add(Findings *to, Hazard h, u32 i, u32 other, std::string_view subject) const {
        if (to)
            to->push_back(finding_of(h, i, other, subject));
    }
    void add(Findings *to, Hazard h, u32 i, u32 other, const RegisterUse &use) const {
        add(to, h, i, other, register_name(use.bank, use.first));
    }

    const Flow &flow_;
    const Code &code_;
    const Facts &facts_;
    const unsigned ds_nops_;
};

void Hazards::step(Recent &state, u32 i, Findings *found) const {
    const HazardRole &r = facts_[i].role;
    if (facts_.has(Hazard::trans_use))
        step_trans(state, i, r, found);
    if (facts_.has(Hazard::mask_write))
        step_masks(state, i, r, found);
    if (facts_.has(Hazard::read_sgpr))
        step_sgprs(state, i, r, found);
    step_neighbours(state, i, r, found);
    if (r.jump)
        cross_call(state, r, facts_.has(Hazard::read_sgpr));
}

// Hazards that LLVM tracks only within functions are dropped at calls, or its code would have
// findings. Scalar writes stay in flight, except of the return address, which callees read at once.
void Hazards::cross_call(Recent &state, const HazardRole &r, bool reads_stay) {
    state.trans.clear();
    state.neighbours.clear();
    state.by_salu &= ~tracked_sgprs(r.uses, true);
    if (!reads_stay) // H-005; H-002 counts reads of the whole execution
        state.read = 0;
}

// H-003
void Hazards::step_trans(Recent &state, u32 i, const HazardRole &r, Findings *found) const {
    if (r.unit == HazardRole::memory || r.va_vdst)
        state.trans.clear();
    if (r.unit != HazardRole::valu)
        return;
    for (const Recent::Trans &t : state.trans)
        for (const RegisterUse &use : r.uses)
            for (unsigned n = 0; found && !use.write && n < use.count; ++n)
                if (t.written.has(use, n)) {
                    const auto reg = static_cast<u16>(use.first + n);
                    add(found, Hazard::trans_use, i, t.instruction, {use.bank, false, reg, 1});
                }
    for (Recent::Trans &t : state.trans) {
        // Overwritten by another instruction: no longer the transcendental's result.
        for (const RegisterUse &use : r.uses)
            if (use.write)
                t.written.remove(use);
        ++t.valu;
        t.trans += r.trans;
    }
    std::erase_if(state.trans, [&](const Recent::Trans &t) {
        return t.valu > trans_window_valu || t.trans > trans_window_trans || t.instruction == i;
    });
    if (r.trans) {
        state.trans.push_back({i, 0, 0, {}});
        for (const RegisterUse &use : r.uses)
            if (use.write)
                state.trans.back().written.add(use);
    }
}

// The registers that the instruction overwrites and that had been read before.
void Hazards::note_writes(Recent &state, u32 i, const HazardRole &r) {
    const Sgprs written = tracked_sgprs(r.uses, true), struck = written & state.read;
    state.by_salu &= ~written, state.by_valu &= ~written;
    (r.unit == HazardRole::salu ? state.by_salu : state.by_valu) |= struck;
    for_each(struck, [&](unsigned reg) {
        state.writer[reg] = i;
        state.since[reg] = 0;
    });
}

// H-005
void Hazards::step_masks(Recent &state, u32 i, const HazardRole &r, Findings *found) const {
    const bool valu = r.unit == HazardRole::valu, salu = r.unit == HazardRole::salu;
    if (r.sa_sdst) // masks have been read
        state.by_salu = state.read = 0;
    state.read &= ~waited_for(r);
    state.by_valu &= ~waited_for(r);
    if (!valu && !salu)
        return;
    const Sgprs reads = tracked_sgprs(r.uses, false);
    for_each(reads & (valu ? state.by_salu | state.by_valu : state.by_salu), [&](unsigned reg) {
        add(found, Hazard::mask_write, i, state.writer[reg], register_name(RegisterUse::sgpr, reg));
    });
    note_writes(state, i, r);
    if (valu && (r.literal || reads)) // any other scalar operand ends the window
        state.read = 0;
    state.read |= tracked_sgprs(r.masks, false);
}

// H-002
void Hazards::step_sgprs(Recent &state, u32 i, const HazardRole &r, Findings *found) const {
    const bool valu = r.unit == HazardRole::valu, salu = r.unit == HazardRole::salu;
    state.ds_nops = r.ds_nop ? std::min(state.ds_nops + 1, ds_nops_) : 0;
    if (state.ds_nops == ds_nops_)
        state.read = 0;
    if (r.resolves_sgprs || r.sa_sdst)
        state.by_salu = 0;
    state.by_valu &= r.resolves_sgprs ? 0 : ~waited_for(r);
    if (!valu && !salu)
        return;
    const Sgprs reads = tracked_sgprs(r.uses, false);
    for_each(reads & (valu ? state.by_salu | state.by_valu : state.by_salu), [&](unsigned reg) {
        const bool recent = state.by_salu >> reg & 1 && state.since[reg] <= scalar_write_window;
        if (recent || (valu && state.by_valu >> reg & 1))
            add(found, Hazard::read_sgpr, i, state.writer[reg],
                register_name(RegisterUse::sgpr, reg));
    });
    if (valu)
        state.read |= reads | (reads & even_sgprs) << 1 | (reads >> 1 & even_sgprs);
    else // waits for vector instructions that write SGPRs, VCC or all others, before it reads one
        state.by_valu &=
            (reads & vcc_pair ? ~vcc_pair : ~Sgprs{0}) & (reads & ~vcc_pair ? vcc_pair : ~Sgprs{0});
    if (salu)
        for_each(state.by_salu, [&](unsigned reg) {
            if (state.since[reg] <= scalar_write_window)
                ++state.since[reg];
        });
    note_writes(state, i, r);
}

// H-006, H-007: only the vector instruction right before matters.
void Hazards::step_neighbours(Recent &state, u32 i, const HazardRole &r, Findings *found) const {
    for (u32 other : state.neighbours) {
        const HazardRole &before = facts_[other].role;
        if (before.cmpx && r.permlane && facts_.has(Hazard::cmpx_permute))
            add(found, Hazard::cmpx_permute, i, other,
                register_name(RegisterUse::sgpr, sreg::exec));
        if (before.matrix && r.matrix && facts_.has(Hazard::matrix_input))
            for (const RegisterUse &use : r.inputs)
                if (writes(before, use)) {
                    add(found, Hazard::matrix_input, i, other, use);
                    break;
                }
    }
    if (r.unit != HazardRole::valu || (r.dropped && facts_.has(Hazard::exec_war))) // on gfx10.1
        return;
    state.neighbours.clear();
    if (r.matrix || r.cmpx)
        state.neighbours.insert(i);
}

// H-008, H-009, H-013, H-030, H-031
void Hazards::find_own(u32 i, Findings &found) const {
    const HazardRole &r = facts_[i].role;
    if (facts_.has(Hazard::mad_overlap) && r.mad_overlap)
        add(&found, Hazard::mad_overlap, i, Finding::nothing, r.uses[0]);
    if (facts_.has(Hazard::vopd_dependent) && r.vopd_dependent)
        add(&found, Hazard::vopd_dependent, i, Finding::nothing, r.uses[0]);
    if (facts_.has(Hazard::clause_length) && r.long_clause)
        add(&found, Hazard::clause_length, i, Finding::nothing, "the clause");
    if (facts_.has(Hazard::same_sgpr) && r.same_sgpr)
        for (const RegisterUse &use : r.uses)
            if (use.write && is_tracked_sgpr(use))
                return add(&found, Hazard::same_sgpr, i, Finding::nothing, use);
    if (facts_.has(Hazard::dealloc_nop) && r.dealloc_vgprs)
        for (u32 before : flow_.before(i))
            if (code_.instructions[before].x.mnemonic != "s_nop")
                return add(&found, Hazard::dealloc_nop, i, Finding::nothing, "the VGPRs");
}

} // namespace

Finding finding_of(Hazard h, u32 i, u32 other, std::string_view subject) {
    const HazardInfo &hazard = sim::info(h);
    return {rule_of(h), i, other, fmt::format("{} {}", subject, hazard.what),
            std::string(hazard.remedy)};
}

Findings find_hazards(const Flow &flow, const Facts &facts) {
    const Hazards hazards(flow, facts);
    const auto at =
        solve(flow, Recent{}, [&](Recent &state, u32 i) { hazards.step(state, i, nullptr); });
    Findings found;
    each_state(flow, at, [&](Recent &state, u32 i) {
        hazards.step(state, i, &found);
        find_going_back(flow, facts, i, found);
        hazards.find_own(i, found);
    });
    if (facts.has(Hazard::denorm_mode))
        find_gfx10_hazards(flow, facts, found);
    if (facts.has(Hazard::expert_mode))
        find_expert_hazards(flow, facts, found);
    return found;
}

} // namespace nw::lint

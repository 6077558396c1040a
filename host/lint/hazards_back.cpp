// SPDX-License-Identifier: MIT
// Hazards found by a backward search from the affected instruction.
#include <algorithm>
#include <set>

#include "lint/hazards.h"

namespace nw::lint {

namespace {

using namespace sim;

bool uses(const HazardRole &r, const RegisterUse &registers) {
    return std::ranges::any_of(r.uses,
                               [&](const RegisterUse &use) { return overlap(use, registers); });
}

// H-004. Searches back from a vector instruction with two or more VGPR operands: one written after
// the last scalar write of EXEC and another before it, within the hazard's window.
void find_forwarding(const Flow &flow, const Facts &facts, u32 i, Findings &found) {
    const HazardRole &r = facts[i].role;
    std::vector<RegisterUse> sources;
    for (const RegisterUse &use : r.uses)
        if (!use.write && use.bank == RegisterUse::vgpr &&
            std::ranges::none_of(sources, [&](const RegisterUse &s) {
                return s.first == use.first && s.count == use.count;
            }))
            sources.push_back(use);
    if (sources.size() < 2)
        return;
    constexpr int none = -1;
    struct Place { // right before the instruction
        u32 instruction;
        unsigned valu;   // vector instructions between
        int exec, after; // how many were when these were met, or none
        u32 left;        // sources whose last write was not met yet, as bits
        auto operator<=>(const Place &) const = default;
    };
    std::set<Place> seen;
    std::vector<Place> todo{{i, 0, none, none, (1u << sources.size()) - 1}};
    while (!todo.empty()) {
        const Place at = todo.back();
        todo.pop_back();
        for (u32 before : flow.before(at.instruction)) {
            Place next = at;
            next.instruction = before;
            const HazardRole &b = facts[before].role;
            if (b.unit == HazardRole::memory || b.va_vdst || b.jump)
                continue;
            if (b.writes_exec && b.unit == HazardRole::salu && next.after != none &&
                next.exec == none)
                next.exec = static_cast<int>(next.valu);
            if (b.unit == HazardRole::valu) {
                for (u32 s = 0; s < sources.size(); ++s) {
                    if (!(next.left >> s & 1) || !writes(b, sources[s]))
                        continue;
                    next.left &= ~(1u << s);
                    const int valu = static_cast<int>(next.valu);
                    if (next.exec == none)
                        next.after = next.after == none ? valu : next.after;
                    else if (next.after <= static_cast<int>(forwarding_window_use) &&
                             next.exec - next.after - 1 + valu - next.exec <=
                                 static_cast<int>(forwarding_window_exec))
                        return found.push_back(
                            finding_of(Hazard::forwarding, i, before,
                                       register_name(sources[s].bank, sources[s].first)));
                }
                ++next.valu;
            }
            if (next.left && next.valu <= forwarding_window_use + forwarding_window_exec + 1 &&
                seen.insert(next).second)
                todo.push_back(next);
        }
    }
}

// H-026. The results of the last `parity_window` vector instructions may not be written yet. Calls
// and returns don't wait for them.
void find_parity(const Flow &flow, const Facts &facts, u32 i, Findings &found) {
    struct Place { // right before the instruction
        u32 instruction;
        unsigned valu; // vector instructions between
        auto operator<=>(const Place &) const = default;
    };
    std::set<Place> seen;
    std::vector<Place> todo{{i, 0}};
    while (!todo.empty()) {
        const Place at = todo.back();
        todo.pop_back();
        for (u32 before : flow.before(at.instruction)) {
            const HazardRole &b = facts[before].role;
            if (b.unit == HazardRole::memory || b.va_vdst)
                continue;
            Place next{before, at.valu};
            if (writes_vgprs(b)) {
                for (const RegisterUse &source : facts[i].role.parity)
                    if (writes(b, source))
                        return found.push_back(
                            finding_of(Hazard::vopd_parity, i, before,
                                       register_name(source.bank, source.first)));
                ++next.valu;
            }
            if (next.valu < parity_window && seen.insert(next).second)
                todo.push_back(next);
        }
    }
}

// H-014. The load waits until at most this many vector instructions are in flight. Earlier ones are
// done, except that transcendental instructions complete out of order.
void find_lds_direct_valu(const Flow &flow, const Facts &facts, u32 i, Findings &found) {
    const HazardRole &r = facts[i].role;
    struct Place { // right before the instruction
        u32 instruction;
        unsigned valu; // vector instructions between
        bool trans;    // one of them is
        auto operator<=>(const Place &) const = default;
    };
    std::set<Place> seen;
    std::vector<Place> todo{{i, 0, false}};
    while (!todo.empty()) {
        const Place at = todo.back();
        todo.pop_back();
        for (u32 before : flow.before(at.instruction)) {
            const HazardRole &b = facts[before].role;
            Place next{before, at.valu, at.trans};
            if (b.unit == HazardRole::memory || b.va_vdst || b.jump)
                continue;
            if (b.unit == HazardRole::valu) {
                next.trans |= b.trans;
                if (r.wait_vdst > (next.trans ? 0 : next.valu) && uses(b, r.uses[0]))
                    return found.push_back(
                        finding_of(Hazard::lds_direct_valu, i, before,
                                   register_name(RegisterUse::vgpr, r.uses[0].first)));
                ++next.valu;
            }
            if (next.valu < lds_direct_window && seen.insert(next).second)
                todo.push_back(next);
        }
    }
}

// H-015
void find_lds_direct_vmem(const Flow &flow, const Facts &facts, u32 i, Findings &found) {
    const HazardRole &r = facts[i].role;
    if (r.wait_vsrc)
        return;
    std::set<u32> seen;
    std::vector<u32> todo{i};
    while (!todo.empty()) {
        const u32 at = todo.back();
        todo.pop_back();
        for (u32 before : flow.before(at)) {
            const Fact &b = facts[before];
            const bool memory = b.role.unit == HazardRole::memory;
            const std::string_view n = flow.code().instructions[before].x.mnemonic;
            const bool exported = n.starts_with("exp");
            if (memory && !exported && uses(b.role, r.uses[0]))
                return found.push_back(
                    finding_of(Hazard::lds_direct_vmem, i, before,
                               register_name(RegisterUse::vgpr, r.uses[0].first)));
            const bool all =
                n == "s_waitcnt" && (flow.code().instructions[before].word0 & 0xffff) == 0;
            if (b.role.unit != HazardRole::valu && !exported && !b.role.vm_vsrc && !all &&
                !b.role.wait_vsrc && !b.role.jump && seen.insert(before).second)
                todo.push_back(before);
        }
    }
}

} // namespace

void find_going_back(const Flow &flow, const Facts &facts, u32 i, Findings &found) {
    const HazardRole &r = facts[i].role;
    if (facts.has(Hazard::forwarding) && r.unit == HazardRole::valu)
        find_forwarding(flow, facts, i, found);
    if (facts.has(Hazard::vopd_parity) && !r.parity.empty())
        find_parity(flow, facts, i, found);
    if (!r.lds_direct || r.uses.empty())
        return;
    if (facts.has(Hazard::lds_direct_valu))
        find_lds_direct_valu(flow, facts, i, found);
    if (facts.has(Hazard::lds_direct_vmem))
        find_lds_direct_vmem(flow, facts, i, found);
}

} // namespace nw::lint

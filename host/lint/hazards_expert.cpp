// SPDX-License-Identifier: MIT
// H-029: dependencies that gfx12 leaves to the program in one mode.
#include "lint/hazards.h"
#include "lint/solve.h"
#include "sim/isa/hazards/expert_mode.h"

namespace nw::lint {

using namespace sim;

void find_expert_hazards(const Flow &flow, const Facts &facts, Findings &found) {
    std::vector<ExpertRole> roles(flow.end());
    bool any = false;
    for (const Block &b : flow.blocks())
        for (u32 i = b.first; i < b.end; ++i) {
            roles[i] = expert_role(flow.code().instructions[i], facts[i].role);
            any |= roles[i].sets_mode;
        }
    if (!any)
        return;
    const ExpertHazards hazards([&](u32 i) {
        return std::pair<const HazardRole &, const ExpertRole &>(facts[i].role, roles[i]);
    });
    const auto at = solve(flow, ExpertRecent{}, [&](ExpertRecent &state, u32 i) {
        hazards.step(state, i, {}, [](const RegisterUse &, u32) {});
    });
    each_state(flow, at, [&](ExpertRecent &state, u32 i) {
        hazards.step(state, i, {}, [&](const RegisterUse &use, u32 earlier) {
            found.push_back(
                finding_of(Hazard::expert_mode, i, earlier, register_name(use.bank, use.first)));
        });
    });
}

} // namespace nw::lint

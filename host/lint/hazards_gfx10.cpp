// SPDX-License-Identifier: MIT
// H-016 to H-024: hazards of gfx10 only.
#include "lint/hazards.h"
#include "lint/solve.h"
#include "sim/isa/hazards/gfx10_hazards.h"

namespace nw::lint {

namespace {

using namespace sim;

class Gfx10 {
public:
    Gfx10(const Flow &flow, const Facts &facts)
        : facts_(facts), hazards_(facts.has(Hazard::exec_war)) {
        for (const Block &b : flow.blocks())
            for (u32 i = b.first; i < b.end; ++i) {
                if (roles_.size() <= i)
                    roles_.resize(i + 1);
                roles_[i] = gfx10_role(flow.code().instructions[i], facts[i].role);
            }
    }

    // Reports where `found` is not null.
    void step(Gfx10Recent &state, u32 i, Findings *found) const {
        hazards_.step(
            state, i, facts_[i].role, roles_[i],
            [&](Hazard h, u32 earlier, unsigned sgpr, std::string_view subject) {
                if (!found)
                    return;
                const u32 other = earlier == Gfx10Recent::none ? Finding::nothing : earlier;
                found->push_back(finding_of(h, i, other,
                                            subject.empty() ? register_name(RegisterUse::sgpr, sgpr)
                                                            : std::string(subject)));
            });
    }

private:
    const Facts &facts_;
    Gfx10Hazards hazards_;
    std::vector<Gfx10Role> roles_; // by instruction
};

} // namespace

void find_gfx10_hazards(const Flow &flow, const Facts &facts, Findings &found) {
    const Gfx10 hazards(flow, facts);
    const auto at = solve(flow, Gfx10Recent{},
                          [&](Gfx10Recent &state, u32 i) { hazards.step(state, i, nullptr); });
    each_state(flow, at, [&](Gfx10Recent &state, u32 i) { hazards.step(state, i, &found); });
}

} // namespace nw::lint

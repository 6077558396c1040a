// SPDX-License-Identifier: MIT
// Rules H-002 to H-009 and H-013 on: the hazards of sim/isa/hazards/hazards.inc, on every path
// through the code. Their notes define them; the simulator's check uses the same data.
#pragma once
#include "lint/facts.h"
#include "lint/finding.h"

namespace nw::lint {

Findings find_hazards(const Flow &, const Facts &);

// The backward searches from an instruction, the hazards of gfx10, and of one mode of gfx12.
void find_going_back(const Flow &, const Facts &, u32 instruction, Findings &);
void find_gfx10_hazards(const Flow &, const Facts &, Findings &);
void find_expert_hazards(const Flow &, const Facts &, Findings &);

Finding finding_of(sim::Hazard, u32 instruction, u32 other, std::string_view subject);

} // namespace nw::lint

// SPDX-License-Identifier: MIT
// Rules H-002 to H-009 and H-013 on: the hazards of sim/isa/hazards.inc that a few instructions
// make, on every way through the code. What strikes when is said by their notes, and by the same
// data that the simulator's check has.
#pragma once
#include "lint/facts.h"
#include "lint/finding.h"

namespace nw::lint {

Findings find_hazards(const Flow &, const Facts &);

// Parts of it: those that are looked for going back from an instruction, and those of gfx10 alone.
void find_going_back(const Flow &, const Facts &, u32 instruction, Findings &);
void find_gfx10_hazards(const Flow &, const Facts &, Findings &);

Finding finding_of(sim::Hazard, u32 instruction, u32 other, std::string_view subject);

} // namespace nw::lint

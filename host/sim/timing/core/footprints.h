// SPDX-License-Identifier: MIT
// The accesses of recorded waves, by instruction, and the same with fewer sectors.
#pragma once
#include "sim/timing/core/op_facts.h"
#include "sim/timing/what_if.h"

namespace nw::sim::timing {

// By instruction index, of the workgroups that the recorder has.
std::vector<Footprint> footprints(Recorder &, const ProgramFacts &);

// Leaves each vector access as many of its sectors as its bytes need. Repeated accesses of the same
// sectors take others of them in turn, so that in the end all sectors are accessed that were.
void coalesce(Recorder &, const ProgramFacts &);

} // namespace nw::sim::timing

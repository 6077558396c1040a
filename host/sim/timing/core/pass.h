// SPDX-License-Identifier: MIT
// Workgroups that are not played: caches see their accesses, but no time passes.
#pragma once
#include "sim/timing/core/engine.h"

namespace nw::sim::timing {

// A recorded workgroup of so many waves.
void pass_over(const Machine &, Recorder &, u64 group, u32 waves);

// Work of a recorded workgroup.
GroupWork work_of(Recorder &, u64 group, u32 waves, const ProgramFacts &);

} // namespace nw::sim::timing

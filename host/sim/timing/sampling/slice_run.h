// SPDX-License-Identifier: MIT
// Executes slices of workgroups (slice.h).
#pragma once
#include <functional>
#include <vector>

#include "sim/func/launch/launch.h"
#include "sim/timing/constants/generations.h"
#include "sim/timing/core/op_facts.h"

namespace nw::sim::timing {

// The part of the kernel that times depend on, kept with the program; null: all of it.
const Executable *slice_of(const Dispatch &, const ProgramFacts &);

// The workgroups that `next` names, until it names none: no_group. On so many threads.
constexpr u64 no_group = ~u64{0};
RunStats run_slice(Context &, const Executable &slice, unsigned threads,
                   const std::function<u64()> &next);

// Work of these workgroups. Memory is not changed. Empty if that can't be known in advance:
// the kernel has no slice, writes by scalar or flat stores, or one of them would fault.
std::vector<GroupWork> probe(const std::vector<u64> &groups, const Dispatch &, Memory &,
                             const Device &, const RunConfig &, const ProgramFacts &);

} // namespace nw::sim::timing

// SPDX-License-Identifier: MIT
// For times alone: the instructions whose results decide no branch, no mask and no address need not
// be executed. What waves do, and when, is the same without them, and so are faults of addresses.
#pragma once
#include <memory>
#include <vector>

#include "sim/func/executable/executable.h"
#include "sim/timing/core/op_facts.h"

namespace nw::sim::timing {

// By instruction: its results don't matter. Accesses of memory are executed, with any data. Empty
// if that can't be known: the kernel has atomics on memory that return, indirect jumps or
// registers, or its addresses come from memory that it may have written.
std::vector<bool> idle_instructions(const Code &, const ProgramFacts &, u32 entry);

// A copy of the code that passes idle instructions over. A row of them without memory accesses is
// recorded and passed over at once.
std::unique_ptr<Executable> without_idle(const Executable &, const ProgramFacts &,
                                         const std::vector<bool> &idle);

// A copy of the code whose vector stores and atomics do nothing to memory. Not for atomics that
// return.
std::unique_ptr<Executable> without_stores(const Executable &, const ProgramFacts &);

} // namespace nw::sim::timing

// SPDX-License-Identifier: MIT
// The class of an instruction, for execution, timing and static analysis.
#pragma once
#include "sim/isa/instruction.h"
#include "sim/isa/tables/ops.h"

namespace nw::sim {

// `other` if it isn't decoded or no row has its name.
Class class_of(const Instruction &);
std::string_view name(Class); // "vmem_load", as HIPSIM_STATS has it

} // namespace nw::sim

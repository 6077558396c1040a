// SPDX-License-Identifier: MIT
// Which class an instruction is counted as, by those who run it, time it and only look at it.
#pragma once
#include "sim/isa/instruction.h"
#include "sim/isa/ops.h"

namespace nw::sim {

// `other` where it isn't decoded, and where no row names it.
Class class_of(const Instruction &);
std::string_view name(Class); // "vmem_load", as HIPSIM_STATS has it

} // namespace nw::sim

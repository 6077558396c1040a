// SPDX-License-Identifier: MIT
// Encodings that are almost an instruction.
#pragma once
#include <string_view>

#include "sim/isa/instruction.h"

namespace nw::sim {

// A field that the instruction does not use is not 0 (S-061).
bool sets_unused_field(const Instruction &, std::string_view cpu, u32 wave_size);

// The operand that LLVM decodes but the instruction can't have, such as an SGPR in v_interp; "" if
// there is none.
std::string_view invalid_operand(const Instruction &);

} // namespace nw::sim

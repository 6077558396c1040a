// SPDX-License-Identifier: MIT
// How sure an instruction's results are.
#pragma once
#include <string_view>

#include "sim/isa/instruction.h"

namespace nw::sim {

enum class Fidelity : u8 { exact, approximate, open };

struct FidelityNote {
    Fidelity fidelity = Fidelity::exact;
    std::string_view note;  // "S-011"; "" when exact
    std::string_view bound; // of approximate ones
};

// Of the instruction by itself. `fast_math`: under HIPSIM_MATH=fast.
FidelityNote fidelity_of(std::string_view mnemonic, bool fast_math = false);
// Of a VOPD pair's two halves the less sure one.
FidelityNote fidelity_of(const Instruction &, bool fast_math = false);

} // namespace nw::sim

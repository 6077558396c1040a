// SPDX-License-Identifier: MIT
// Confidence in an instruction's results.
#pragma once
#include <string_view>

#include "base/targets.h"
#include "sim/isa/instruction.h"

namespace nw::sim {

enum class Fidelity : u8 { exact, approximate, open };

struct FidelityNote {
    Fidelity fidelity = Fidelity::exact;
    std::string_view note;  // "S-011"; "" when exact
    std::string_view bound; // of approximate ones
};

// Fidelity of a single instruction. `fast_math`: under HIPSIM_MATH=fast.
FidelityNote fidelity_of(std::string_view mnemonic, Generation, bool fast_math = false);
// For a VOPD pair, the less certain half.
FidelityNote fidelity_of(const Instruction &, Generation, bool fast_math = false);

} // namespace nw::sim

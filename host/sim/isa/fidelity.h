// SPDX-License-Identifier: MIT
// How sure an instruction's results are.
#pragma once
#include <string_view>

#include "base/types.h"

namespace nw::sim {

enum class Fidelity : u8 { exact, approximate, open };

struct FidelityNote {
    Fidelity fidelity = Fidelity::exact;
    std::string_view note;  // "S-011"; "" when exact
    std::string_view bound; // of approximate ones
};

FidelityNote fidelity_of(std::string_view mnemonic);

} // namespace nw::sim

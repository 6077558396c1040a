// SPDX-License-Identifier: MIT
// What the simulator can run of everything that LLVM disassembles for a gfx.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/isa/fidelity.h"

namespace nw::sim {

struct Coverage {
    enum class State : u8 { exact, approximate, open, missing, out_of_scope };
    std::string mnemonic;
    State state = State::missing;
    std::string remark; // note and bound, why it is missing, or what it is instead of compute
};

// Sorted by mnemonic.
std::vector<Coverage> coverage(std::string_view gfx);

const char *name_of(Coverage::State);

} // namespace nw::sim

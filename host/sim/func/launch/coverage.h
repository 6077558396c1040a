// SPDX-License-Identifier: MIT
// Which of the instructions that LLVM disassembles for a gfx the simulator can run.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/isa/tables/fidelity.h"

namespace nw::sim {

struct Coverage {
    enum class State : u8 { exact, approximate, open, missing, out_of_scope };
    std::string mnemonic;
    State state = State::missing;
    std::string remark; // note and bound, why it is missing, or its non-compute use
};

// Sorted by mnemonic.
std::vector<Coverage> coverage(std::string_view gfx);

const char *name_of(Coverage::State);

} // namespace nw::sim

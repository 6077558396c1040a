// SPDX-License-Identifier: MIT
// Text dump of a wave's state, for HIPSIM_DUMP.
#pragma once
#include <string>

#include "sim/func/wave.h"

namespace nw::sim {

// The instruction and a few around it.
std::string listing(const Wave &, const Inst &at);
// The same, and the wave's state; `at`: the instruction that faulted.
std::string dump(const Wave &, const Inst &at);

} // namespace nw::sim

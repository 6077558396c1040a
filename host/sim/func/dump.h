// SPDX-License-Identifier: MIT
// Text dump of a wave's state, for HIPSIM_DUMP.
#pragma once
#include <string>

#include "sim/func/wave.h"

namespace nw::sim {

// `at`: the instruction that faulted; a few around it are listed.
std::string dump(const Wave &, const Inst &at);

} // namespace nw::sim

// SPDX-License-Identifier: MIT
#pragma once
#include "sim/isa/code.h"

namespace nw::sim {

// Whether instruction `load` loads what only the compare-exchange after it sees. That has to be in
// the same straight line of code; that its address is the load's is not checked.
bool is_guess(const Code &, size_t load);

} // namespace nw::sim

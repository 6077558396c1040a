// SPDX-License-Identifier: MIT
#pragma once
#include "base/targets.h"
#include "sim/isa/code.h"

namespace nw::sim {

// Whether instruction `load` loads what only the compare-exchange after it sees. Between the two
// there may be jumps, but no branch; that the exchange's address is the load's is not checked.
bool is_guess(const Code &, size_t load, const Target &);

} // namespace nw::sim

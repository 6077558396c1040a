// SPDX-License-Identifier: MIT
// Targets that bench/run builds before it runs a suite.
#pragma once
#include <string>
#include <vector>

#include "bench/suites.h"

namespace nw::bench {

// CMake targets of the suite's program, and of the kernels that it launches with these options, if
// the gfx has them. Throws Error if the device can't be opened, Usage for an unknown --gfx.
std::vector<std::string> targets_needed(const Options &, const Suite &);

} // namespace nw::bench

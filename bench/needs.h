// SPDX-License-Identifier: MIT
// What bench/run builds before it runs a suite.
#pragma once
#include <string>
#include <vector>

#include "bench/suites.h"

namespace nw::bench {

// CMake targets of the suite's program, and of the kernels that it launches with these options
// where the gfx has them. Throws Error where the device can't be opened, Usage for an unknown
// --gfx.
std::vector<std::string> targets_needed(const Options &, const Suite &);

} // namespace nw::bench

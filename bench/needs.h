// SPDX-License-Identifier: MIT
// What bench/run builds before it runs a suite.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/options.h"

namespace nw::bench {

// CMake targets of the kernels that the suite launches with these options. `families`: those that
// it launches where a gfx has them; none means all. Throws Error where the device can't be opened,
// Usage for an unknown --gfx.
std::vector<std::string> kernels_needed(const Options &,
                                        std::span<const std::string_view> families);

} // namespace nw::bench

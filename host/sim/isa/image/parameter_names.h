// SPDX-License-Identifier: MIT
// DWARF .debug_info (versions 4 and 5) -> the names of kernels' parameters.
#pragma once
#include <vector>

#include "sim/isa/image/elf.h"

namespace nw::sim {

// Names the explicit arguments of kernels whose metadata has no name for them: compilers leave that
// out, and debug information has it. Unreadable information is treated as absent.
void add_parameter_names(const Elf &, std::vector<KernelInfo> &);

} // namespace nw::sim

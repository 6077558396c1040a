// SPDX-License-Identifier: MIT
// What a simulated device says about itself.
#pragma once
#include "base/types.h"
#include "sim/func/machine.h"
#include "sim/hip/prop_layouts.h"

namespace nw::hipsim {

inline constexpr u32 max_workgroup = 1024;
inline constexpr u32 max_grid_yz = 65536;

// The host's memory: that is what there is.
u64 total_memory();

// Fields that describe what the simulator does not have (textures, peers, PCI) are 0.
PropR0600 properties(const sim::Device &device, int ordinal);

} // namespace nw::hipsim

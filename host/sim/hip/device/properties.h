// SPDX-License-Identifier: MIT
// Properties of a simulated device.
#pragma once
#include "base/types.h"
#include "sim/func/machine.h"
#include "sim/hip/device/prop_layouts.h"

namespace nw::hipsim {

inline constexpr u32 max_workgroup = 1024;
inline constexpr u32 max_grid_x = 2147483647, max_grid_yz = 65536;

// Total memory: the host's.
u64 total_memory();

// Fields of features that aren't simulated (textures, peers, PCI) are 0.
PropR0600 properties(const sim::Device &device, int ordinal);

} // namespace nw::hipsim

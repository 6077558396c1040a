// SPDX-License-Identifier: MIT
// The GPUs that are simulated, one product per gfx, and how many waves fit on their SIMDs.
#pragma once
#include <span>
#include <string_view>

#include "sim/isa/program.h"

namespace nw::sim {

// What the HIP layer (attributes), the machine and the lint need to know of one.
struct Device {
    const char *gfx;
    const char *marketing_name;
    u32 wgps;           // two compute units each
    u32 vgprs_per_simd; // 1536 or 1024, wave32
    u32 vgpr_granule;   // 24 or 16, wave32
    u32 l2_bytes;
    u32 clock_khz;
    u32 memory_clock_khz;
    u32 memory_bus_bits;
};
const Device *find_device(std::string_view gfx); // null: none of that gfx
std::span<const Device> devices();

// VGPRs of a lane, as the descriptor says.
u32 allocated_vgprs(const KernelInfo &);

// Waves that fit on one SIMD (at most 16), by VGPRs, LDS and workgroup size.
u32 waves_per_simd(const Device &, const KernelInfo &, u32 workgroup, u32 lds_bytes);

} // namespace nw::sim

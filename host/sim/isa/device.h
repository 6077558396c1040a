// SPDX-License-Identifier: MIT
// The GPUs that are simulated, one product per gfx, and how many waves fit on their SIMDs.
#pragma once
#include <span>
#include <string_view>

#include "base/occupancy.h"
#include "sim/isa/program.h"

namespace nw::sim {

// What the HIP layer (attributes), the machine and the lint need to know of one: facts of its
// target and of the default part.
struct Device {
    const char *gfx;
    const char *marketing_name;
    const Target *target;
    u32 wgps; // two compute units each
    bool apu;
    u32 l2_bytes;
    u32 clock_khz;
    u32 memory_clock_khz;
    u32 memory_bus_bits;
};
const Device *find_device(std::string_view gfx); // null: none of that gfx
std::span<const Device> devices();

// VGPRs of a lane, as the descriptor says.
u32 allocated_vgprs(const KernelInfo &);

// How workgroups of so many work-items share a WGP.
Residency residency(const Device &, const KernelInfo &, u32 workgroup);

// Waves that fit on one SIMD, by VGPRs, LDS and workgroup size; workgroups need not be whole.
u32 waves_per_simd(const Device &, const KernelInfo &, u32 workgroup, u32 lds_bytes);

} // namespace nw::sim

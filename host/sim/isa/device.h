// SPDX-License-Identifier: MIT
// The simulated GPUs, one product per gfx unless another is named, and their occupancy limits.
#pragma once
#include <span>
#include <string_view>

#include "base/occupancy.h"
#include "sim/isa/image/program.h"

namespace nw::sim {

// Device facts for the HIP layer (attributes), the machine and the lint: from a part and its
// target.
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
// Devices of the default parts, one per gfx.
const Device *find_device(std::string_view gfx); // null: none of that gfx
std::span<const Device> devices();

// Of that part; throws nw::Error for an unknown name.
const Device &device_of_part(std::string_view name);

// VGPRs per lane, from the descriptor.
u32 allocated_vgprs(const KernelInfo &);
// VGPRs from v0 on that hold the work-item's ids at entry, as the descriptor asks.
u32 item_id_vgprs(const KernelInfo &, const Target &);

// How workgroups of this many work-items share a WGP.
Residency residency(const Device &, const KernelInfo &, u32 workgroup);

// Waves that fit on one SIMD, by VGPRs, LDS and workgroup size; workgroups need not be whole.
u32 waves_per_simd(const Device &, const KernelInfo &, u32 workgroup, u32 lds_bytes);

} // namespace nw::sim

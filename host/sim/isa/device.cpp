// SPDX-License-Identifier: MIT
#include "sim/isa/device.h"

#include <algorithm>
#include <array>

namespace nw::sim {

namespace {

constexpr u32 kib = 1024, mib = 1024 * kib, mhz = 1000;

// One product per gfx: AMD's published specifications (compute units, L2, memory clock and bus).
// clang-format off
constexpr std::array<Device, 10> table{{
    // gfx        product                        CUs  VGPRs  gran.  L2        core        memory      bus
    {"gfx1100", "AMD Radeon RX 7900 XTX (sim)",   48, 1536, 24, 6 * mib, 2500 * mhz, 1250 * mhz, 384},
    {"gfx1101", "AMD Radeon RX 7800 XT (sim)",    30, 1536, 24, 4 * mib, 2430 * mhz, 1219 * mhz, 256},
    {"gfx1102", "AMD Radeon RX 7600 (sim)",       16, 1024, 16, 2 * mib, 2655 * mhz, 1125 * mhz, 128},
    {"gfx1103", "AMD Radeon 780M (sim)",           6, 1024, 16, 2 * mib, 2700 * mhz, 3750 * mhz, 128},
    {"gfx1150", "AMD Radeon 890M (sim)",           8, 1024, 16, 2 * mib, 2900 * mhz, 3750 * mhz, 128},
    {"gfx1151", "AMD Radeon 8060S (sim)",         20, 1536, 24, 2 * mib, 2900 * mhz, 4000 * mhz, 256},
    {"gfx1152", "AMD Radeon 860M (sim)",           4, 1024, 16, 1 * mib, 3000 * mhz, 4000 * mhz, 128},
    {"gfx1153", "AMD Radeon 820M (sim)",           2, 1024, 16, 1 * mib, 2800 * mhz, 4000 * mhz, 128},
    {"gfx1200", "AMD Radeon RX 9060 XT (sim)",    16, 1536, 24, 4 * mib, 3130 * mhz, 1250 * mhz, 128},
    {"gfx1201", "AMD Radeon RX 9070 XT (sim)",    32, 1536, 24, 8 * mib, 2970 * mhz, 1250 * mhz, 256},
}};
// clang-format on

constexpr u32 max_waves = 16; // per SIMD
constexpr u32 simds_per_wgp = 4;
constexpr u32 lds_per_wgp = 128 * kib, lds_block = 1024;

} // namespace

std::span<const Device> devices() { return table; }

const Device *find_device(std::string_view gfx) {
    auto it =
        std::find_if(table.begin(), table.end(), [&](const Device &d) { return gfx == d.gfx; });
    return it == table.end() ? nullptr : &*it;
}

u32 allocated_vgprs(const KernelInfo &k) {
    constexpr u32 most = 256;
    return std::min(most, ((k.rsrc1 & 63) + 1) * (k.wave_size == 32 ? 8 : 4));
}

u32 waves_per_simd(const Device &device, const KernelInfo &kernel, u32 workgroup, u32 lds_bytes) {
    if (workgroup == 0 || workgroup > kernel.max_workgroup)
        return 0;
    // A wave64 holds two rows per VGPR, and its granule is half as many registers.
    u32 rows = kernel.wave_size / 32;
    u32 vgprs = ((kernel.rsrc1 & 63) + 1) * (kernel.wave_size == 32 ? 8 : 4) * rows;
    u32 by_vgprs = device.vgprs_per_simd / round_up(std::max(vgprs, 1u), device.vgpr_granule);
    u32 waves = std::min(max_waves, by_vgprs);
    u32 waves_per_group = ceil_div(workgroup, kernel.wave_size);
    if (lds_bytes) {
        u32 groups = lds_per_wgp / round_up(lds_bytes, lds_block);
        waves = std::min(waves, std::max(1u, ceil_div(groups * waves_per_group, simds_per_wgp)));
        if (groups == 0)
            return 0;
    }
    // Whole workgroups must fit on the WGP.
    u32 groups = waves * simds_per_wgp / waves_per_group;
    return groups ? waves : 0;
}

} // namespace nw::sim

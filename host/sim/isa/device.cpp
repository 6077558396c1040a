// SPDX-License-Identifier: MIT
#include "sim/isa/device.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/parts.h"

namespace nw::sim {

namespace {

// Names in HIP's listing: each one says that it is simulated.
struct Table {
    std::deque<std::string> names;
    std::vector<Device> devices;
    Table() {
        constexpr u32 khz = 1000;
        for (const Target &t : targets()) {
            const Part &part = *default_part(t.name); // gen/targets.py refuses a target without
            names.push_back(fmt::format("{} (sim)", part.product));
            devices.push_back({t.name.data(), names.back().c_str(), &t, part.wgps, part.apu,
                               part.l2_size, part.shader_mhz * khz, part.memory_mhz * khz,
                               part.memory_bus_bits});
        }
    }
};

const std::vector<Device> &table() {
    static const Table &one = *new Table;
    return one.devices;
}

} // namespace

std::span<const Device> devices() { return table(); }

const Device *find_device(std::string_view gfx) {
    const auto it = std::ranges::find_if(table(), [&](const Device &d) { return gfx == d.gfx; });
    return it == table().end() ? nullptr : &*it;
}

u32 allocated_vgprs(const KernelInfo &k) {
    constexpr u32 most = 256;
    return std::min(most, ((k.rsrc1 & 63) + 1) * (k.wave_size == 32 ? 8 : 4));
}

Residency residency(const Device &device, const KernelInfo &kernel, u32 workgroup) {
    constexpr u32 wgp_mode = 1u << 29; // of the descriptor's rsrc1
    return {*device.target, ceil_div(workgroup, kernel.wave_size), kernel.wave_size,
            (kernel.rsrc1 & wgp_mode) == 0};
}

u32 waves_per_simd(const Device &device, const KernelInfo &kernel, u32 workgroup, u32 lds_bytes) {
    if (workgroup == 0 || workgroup > kernel.max_workgroup)
        return 0;
    return residency(device, kernel, workgroup).most_waves(allocated_vgprs(kernel), lds_bytes);
}

} // namespace nw::sim

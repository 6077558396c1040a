// SPDX-License-Identifier: MIT
#include "sim/isa/device.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parts.h"

namespace nw::sim {

namespace {

// A part's name in HIP's listing says that it is simulated.
struct Table {
    std::deque<std::string> names;
    std::vector<Device> devices, of_parts; // one per target; in the order of parts()
    Table() {
        for (const Target &t : targets()) // gen/targets.py refuses one without a part
            devices.push_back(of(t, *default_part(t.name)));
        for (const Part &part : parts())
            of_parts.push_back(of(target_of(part.gfx), part));
    }
    Device of(const Target &t, const Part &part) {
        constexpr u32 khz = 1000;
        names.push_back(fmt::format("{} (sim)", part.product));
        return {t.name.data(),
                names.back().c_str(),
                &t,
                part.wgps,
                part.apu,
                part.l2_size,
                part.shader_mhz * khz,
                part.memory_mhz * khz,
                part.memory_bus_bits};
    }
};

const Table &table() {
    static const Table &one = *new Table;
    return one;
}

} // namespace

std::span<const Device> devices() { return table().devices; }

const Device *find_device(std::string_view gfx) {
    const auto it = std::ranges::find_if(devices(), [&](const Device &d) { return gfx == d.gfx; });
    return it == devices().end() ? nullptr : &*it;
}

const Device &device_of_part(std::string_view name) {
    const auto it = std::ranges::find(parts(), name, &Part::name);
    if (it == parts().end())
        throw Error(fmt::format("{}: no such part", name));
    return table().of_parts[static_cast<std::size_t>(it - parts().begin())];
}

u32 allocated_vgprs(const KernelInfo &k) {
    constexpr u32 most = 256;
    return std::min(most, ((k.rsrc1 & 63) + 1) * (k.wave_size == 32 ? 8 : 4));
}

u32 item_id_vgprs(const KernelInfo &k, const Target &target) {
    const u32 last = std::min(2u, k.rsrc2 >> 11 & 3); // x; x and y; x, y and z
    return target.packed_ids ? 1 : last + 1;
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

// SPDX-License-Identifier: MIT
#include "lint/occupancy.h"

#include <algorithm>

namespace nw::lint {

using namespace sim;

namespace {

Occupancy::Limiter limiter(const Residency &home, u32 max_waves, const Occupancy &o) {
    const u32 by_vgprs = home.groups_by_vgprs(o.vgprs);
    if (home.groups_by_lds(o.lds_bytes) < by_vgprs)
        return Occupancy::Limiter::lds;
    if (home.waves(by_vgprs) < o.by_vgprs)
        return Occupancy::Limiter::workgroup;
    return o.by_vgprs == max_waves ? Occupancy::Limiter::most : Occupancy::Limiter::vgprs;
}

} // namespace

std::string_view name(Occupancy::Limiter l) {
    constexpr std::string_view names[] = {"vgprs", "lds", "workgroup", "most"};
    return names[static_cast<size_t>(l)];
}

Occupancy occupancy(const Device &device, const KernelInfo &kernel, u32 workgroup, u32 lds_bytes) {
    const Target &target = *device.target;
    const Residency home = residency(device, kernel, workgroup);
    Occupancy o;
    o.workgroup = workgroup;
    o.lds_bytes = lds_bytes;
    o.vgprs = allocated_vgprs(kernel);
    o.by_vgprs = home.by_vgprs(o.vgprs);
    o.by_lds = std::min(f64{1} * target.max_waves, home.waves(home.groups_by_lds(lds_bytes)));
    o.groups = home.groups(o.vgprs, lds_bytes);
    o.waves = home.waves(o.groups);
    o.waves_per_simd = sim::waves_per_simd(device, kernel, workgroup, lds_bytes);
    o.limiter = limiter(home, target.max_waves, o);
    for (u32 vgprs = o.vgprs; vgprs-- > 1 && !o.fewer_vgprs;)
        if (const u32 groups = home.groups(vgprs, lds_bytes); groups > o.groups)
            o.fewer_vgprs = {vgprs, home.waves(groups)};
    const u32 lds_block = target.lds_block;
    for (u32 bytes = round_up(lds_bytes, lds_block); bytes >= lds_block && !o.less_lds;) {
        bytes -= lds_block;
        if (const u32 groups = home.groups(o.vgprs, bytes); groups > o.groups)
            o.less_lds = {bytes, home.waves(groups)};
    }
    return o;
}

} // namespace nw::lint

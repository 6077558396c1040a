// SPDX-License-Identifier: MIT
#include "lint/occupancy.h"

#include <algorithm>

namespace nw::lint {

using namespace sim;

namespace {

constexpr u32 max_waves = 16, simds_per_wgp = 4;         // T-002
constexpr u32 lds_per_wgp = 128 << 10, lds_block = 1024; // T-003
constexpr u32 most_lds = 64 << 10;                       // of a workgroup
constexpr u32 wgp_mode = 1u << 29;                       // of the descriptor's rsrc1

// Where a workgroup runs: a WGP, or in CU mode one of its halves.
class Home {
public:
    Home(const Device &device, const KernelInfo &kernel, u32 workgroup)
        : device_(device), rows_(kernel.wave_size / 32), per_wgp_(kernel.rsrc1 & wgp_mode ? 1 : 2),
          waves_(std::max(1u, ceil_div(workgroup, kernel.wave_size))) {}

    u32 by_vgprs(u32 vgprs) const {
        const u32 allocated = round_up(std::max(vgprs * rows_, 1u), device_.vgpr_granule);
        return std::min(max_waves, device_.vgprs_per_simd / allocated);
    }
    // Workgroups of a WGP.
    u32 groups_by_vgprs(u32 vgprs) const {
        return by_vgprs(vgprs) * simds_per_wgp / per_wgp_ / waves_ * per_wgp_;
    }
    u32 groups_by_lds(u32 bytes) const {
        if (bytes > most_lds)
            return 0;
        return bytes ? lds_per_wgp / per_wgp_ / round_up(bytes, lds_block) * per_wgp_ : ~0u;
    }
    u32 groups(u32 vgprs, u32 lds) const {
        return std::min(groups_by_vgprs(vgprs), groups_by_lds(lds));
    }
    f64 waves(u32 groups) const { return f64{1} * groups * waves_ / simds_per_wgp; }

private:
    const Device &device_;
    const u32 rows_, per_wgp_, waves_;
};

Occupancy::Limiter limiter(const Home &home, const Occupancy &o) {
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
    const Home home(device, kernel, workgroup);
    Occupancy o;
    o.workgroup = workgroup;
    o.lds_bytes = lds_bytes;
    o.vgprs = allocated_vgprs(kernel);
    o.by_vgprs = home.by_vgprs(o.vgprs);
    o.by_lds = std::min(f64{max_waves}, home.waves(home.groups_by_lds(lds_bytes)));
    o.groups = home.groups(o.vgprs, lds_bytes);
    o.waves = home.waves(o.groups);
    o.waves_per_simd = workgroup && workgroup <= kernel.max_workgroup && lds_bytes <= lds_per_wgp
                           ? sim::waves_per_simd(device, kernel, workgroup, lds_bytes)
                           : 0;
    o.limiter = limiter(home, o);
    for (u32 vgprs = o.vgprs; vgprs-- > 1 && !o.fewer_vgprs;)
        if (const u32 groups = home.groups(vgprs, lds_bytes); groups > o.groups)
            o.fewer_vgprs = {vgprs, home.waves(groups)};
    for (u32 bytes = round_up(lds_bytes, lds_block); bytes >= lds_block && !o.less_lds;) {
        bytes -= lds_block;
        if (const u32 groups = home.groups(o.vgprs, bytes); groups > o.groups)
            o.less_lds = {bytes, home.waves(groups)};
    }
    return o;
}

} // namespace nw::lint

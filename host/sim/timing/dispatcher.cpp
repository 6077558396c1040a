// SPDX-License-Identifier: MIT
#include "sim/timing/dispatcher.h"

#include <algorithm>

namespace nw::sim::timing {

namespace {

constexpr u32 lds_block = 1024, lds_blocks_per_wgp = 128; // T-003
constexpr u32 wgp_mode = 1u << 29;                        // of the descriptor's rsrc1

} // namespace

Dispatcher::Dispatcher(const Part &part, const Device &device, const KernelInfo &kernel,
                       const Dispatch &d)
    : waves_(ceil_div(d.block.x * d.block.y * d.block.z, kernel.wave_size)),
      lds_blocks_(ceil_div(kernel.lds_bytes + d.dynamic_lds, lds_block)),
      cu_mode_(!(kernel.rsrc1 & wgp_mode)), wgps_(part.wgps) {
    // By VGPRs alone: LDS is counted here, as it fills up.
    most_per_simd_ = std::max(1u, waves_per_simd(device, kernel, kernel.wave_size, 0));
    Wgp one;
    while (fits(one)) {
        one.lds += lds_blocks_;
        for (u32 n = 0; n < waves_; ++n)
            ++*std::min_element(std::begin(one.waves), std::end(one.waves));
        ++resident_;
    }
    // What fits nowhere by these rules runs alone: the launch was accepted.
    resident_ = std::max(1u, resident_) * part.wgps;
}

bool Dispatcher::fits(const Wgp &w) const {
    if (w.all() == 0)
        return true;
    return w.lds + lds_blocks_ <= lds_blocks_per_wgp &&
           w.all() + waves_ <= most_per_simd_ * simds_per_wgp;
}

std::optional<Placement> Dispatcher::place() {
    u32 best = ~0u;
    for (u32 n = 0; n < wgps_.size(); ++n)
        if (fits(wgps_[n]) && (best == ~0u || wgps_[n].all() < wgps_[best].all()))
            best = n;
    if (best == ~0u)
        return {};
    Wgp &w = wgps_[best];
    w.lds += lds_blocks_;
    Placement p{best, {}};
    // In CU mode a workgroup stays on one half of the WGP.
    const u32 half = w.waves[2] + w.waves[3] < w.waves[0] + w.waves[1] ? 2 : 0;
    const u32 first = cu_mode_ ? half : 0, count = cu_mode_ ? 2 : simds_per_wgp;
    for (u32 n = 0; n < waves_; ++n) {
        u32 *at = std::min_element(w.waves + first, w.waves + first + count);
        ++*at;
        p.simds.push_back(best * simds_per_wgp + static_cast<u32>(at - w.waves));
    }
    return p;
}

void Dispatcher::release(const Placement &p) {
    Wgp &w = wgps_[p.wgp];
    w.lds -= lds_blocks_;
    for (u32 simd : p.simds)
        --w.waves[simd % simds_per_wgp];
}

} // namespace nw::sim::timing

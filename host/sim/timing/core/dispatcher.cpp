// SPDX-License-Identifier: MIT
#include "sim/timing/core/dispatcher.h"

#include <algorithm>
#include <utility>

namespace nw::sim::timing {

namespace {

constexpr u32 wgp_mode = 1u << 29; // of the descriptor's rsrc1

} // namespace

Dispatcher::Dispatcher(const Part &part, const Device &device, const KernelInfo &kernel,
                       const Dispatch &d, const WhatIf &changes)
    : wgps_(part.wgps), engines_(std::min(part.shader_engines, part.wgps)),
      waves_(ceil_div(d.block.x * d.block.y * d.block.z, kernel.wave_size)),
      lds_blocks_(ceil_div(changes.lds_bytes.value_or(kernel.lds_bytes + d.dynamic_lds),
                           device.target->lds_block)),
      homes_per_wgp_(kernel.rsrc1 & wgp_mode ? 1 : 2), simds_(simds_per_wgp / homes_per_wgp_),
      lds_blocks_of_home_(device.target->lds_per_wgp / device.target->lds_block / homes_per_wgp_),
      homes_(part.wgps * homes_per_wgp_) {
    // Limited by VGPRs only: LDS is tracked here as it fills up.
    const u32 vgprs = changes.vgprs ? changes.vgprs : allocated_vgprs(kernel);
    most_per_simd_ = std::max(1u, residency(device, kernel, kernel.wave_size).most_waves(vgprs, 0));
    std::vector<u32> unused;
    for (Home one; fits(one); ++resident_)
        add(one, unused);
    resident_ *= part.wgps * homes_per_wgp_;
}

// A workgroup that never fits by these rules runs alone: the launch was accepted.
bool Dispatcher::fits(const Home &h) const {
    return h.all() == 0 || (h.lds + lds_blocks_ <= lds_blocks_of_home_ &&
                            h.all() + waves_ <= most_per_simd_ * simds_);
}

void Dispatcher::add(Home &h, std::vector<u32> &simds) const {
    h.lds += lds_blocks_;
    for (u32 n = 0; n < waves_; ++n) {
        u32 *at = std::min_element(h.waves, h.waves + simds_);
        ++*at;
        simds.push_back(static_cast<u32>(at - h.waves));
    }
}

u32 Dispatcher::waves_in_wgp(u32 home) const {
    u32 all = 0, first = home / homes_per_wgp_ * homes_per_wgp_;
    for (u32 n = first; n < first + homes_per_wgp_; ++n)
        all += homes_[n].all();
    return all;
}

std::optional<u32> Dispatcher::home_in(u32 engine) const {
    const auto load = [&](u32 n) { return std::pair(waves_in_wgp(n), homes_[n].all()); };
    std::optional<u32> best;
    for (u32 n = first_home(engine); n < first_home(engine + 1); ++n)
        if (fits(homes_[n]) && (!best || load(n) < load(*best)))
            best = n;
    return best;
}

std::optional<Placement> Dispatcher::place() {
    for (u32 tried = 0; tried < engines_; ++tried) {
        const u32 engine = (next_engine_ + tried) % engines_;
        const std::optional<u32> home = home_in(engine);
        if (!home)
            continue;
        next_engine_ = (engine + 1) % engines_;
        Placement p{engine, *home / homes_per_wgp_, {}};
        add(homes_[*home], p.simds);
        for (u32 &simd : p.simds)
            simd += *home * simds_;
        return p;
    }
    return {};
}

void Dispatcher::release(const Placement &p) {
    Home &h = homes_[p.simds.front() / simds_];
    h.lds -= lds_blocks_;
    for (u32 simd : p.simds)
        --h.waves[simd % simds_];
}

} // namespace nw::sim::timing

// SPDX-License-Identifier: MIT
// Which workgroup runs where: wave slots, VGPRs and LDS of each WGP.
#pragma once
#include <optional>
#include <vector>

#include "sim/func/machine.h"
#include "sim/timing/part.h"

namespace nw::sim::timing {

struct Placement {
    u32 wgp = 0;
    std::vector<u32> simds; // of the part, by wave of the workgroup
};

inline constexpr u32 simds_per_wgp = 4, waves_per_simd_limit = 16;

class Dispatcher {
public:
    Dispatcher(const Part &, const Device &, const KernelInfo &, const Dispatch &);
    // A place for one more workgroup, which it now has: on the WGP with the fewest waves, from the
    // first on. Nothing when all are full.
    std::optional<Placement> place();
    void release(const Placement &);
    u32 waves() const { return waves_; }       // of a workgroup
    u32 resident() const { return resident_; } // workgroups that fit at once

private:
    struct Wgp {
        u32 waves[simds_per_wgp] = {};
        u32 lds = 0; // blocks
        u32 all() const { return waves[0] + waves[1] + waves[2] + waves[3]; }
    };
    bool fits(const Wgp &) const;
    u32 first_simd(u32 group) const; // of CU mode: one half of the WGP

    u32 waves_, most_per_simd_, lds_blocks_, resident_ = 0;
    bool cu_mode_;
    std::vector<Wgp> wgps_;
};

} // namespace nw::sim::timing

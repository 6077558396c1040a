// SPDX-License-Identifier: MIT
// Places workgroups: shader engines in turn; wave slots, VGPRs and LDS of each WGP (T-057).
#pragma once
#include <optional>
#include <vector>

#include "sim/func/machine.h"
#include "sim/timing/constants/part.h"
#include "sim/timing/what_if.h"

namespace nw::sim::timing {

struct Placement {
    u32 engine = 0; // shader engine
    u32 wgp = 0;
    std::vector<u32> simds; // of the part, by wave of the workgroup
};

// The same on every simulated target (T-002).
inline constexpr u32 simds_per_wgp = 4, simds_per_cu = 2, waves_per_simd_limit = 20;

class Dispatcher {
public:
    Dispatcher(const Part &, const Device &, const KernelInfo &, const Dispatch &,
               const WhatIf & = unchanged);
    // Places one more workgroup: on the next shader engine in turn that has room, there on the WGP
    // with the fewest waves, lowest number first. Nothing when all are full.
    std::optional<Placement> place();
    u32 engines() const { return engines_; }
    void release(const Placement &);
    u32 waves() const { return waves_; }       // of a workgroup
    u32 resident() const { return resident_; } // workgroups that fit at once

private:
    // The unit that a workgroup must fit in: a WGP, or one half of it in CU mode.
    struct Home {
        u32 waves[simds_per_wgp] = {}; // of its SIMDs
        u32 lds = 0;                   // blocks
        u32 all() const { return waves[0] + waves[1] + waves[2] + waves[3]; }
    };
    bool fits(const Home &) const;
    void add(Home &, std::vector<u32> &simds) const; // a workgroup; appends the SIMD of each wave
    u32 waves_in_wgp(u32 home) const;
    u32 first_home(u32 engine) const { // of its WGPs, which are consecutive
        return engine * wgps_ / engines_ * homes_per_wgp_;
    }
    std::optional<u32> home_in(u32 engine) const;

    u32 wgps_, engines_, next_engine_ = 0;
    u32 waves_, most_per_simd_, lds_blocks_, resident_ = 0;
    u32 homes_per_wgp_, simds_; // SIMDs of a home
    u32 lds_blocks_of_home_;
    std::vector<Home> homes_;
};

} // namespace nw::sim::timing

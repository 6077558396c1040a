// SPDX-License-Identifier: MIT
// How many times all banks of LDS are accessed for one instruction, and how many of these because
// lanes ask one bank for different dwords.
#pragma once
#include <span>

#include "base/types.h"

namespace nw::sim::timing {

struct LdsPhases {
    u32 all = 0, conflicts = 0;

    LdsPhases &operator+=(const LdsPhases &o) {
        all += o.all;
        conflicts += o.conflicts;
        return *this;
    }
};

// `at`: byte offsets in LDS of 32 lanes, of which those in `active` access `bytes` each.
// `serial`: an atomic, whose lanes wait for each other where they meet (T-052).
LdsPhases lds_phases(const u64 *at, u32 active, u32 bytes, bool gfx12, bool serial);

} // namespace nw::sim::timing

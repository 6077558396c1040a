// SPDX-License-Identifier: MIT
// LDS bank accesses of one instruction, and how many of them are due to bank conflicts.
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

// `at`: LDS byte offsets of 32 lanes; lanes in `active` access `bytes` each. `serial`: an atomic,
// whose lanes serialize on equal addresses (T-052).
LdsPhases lds_phases(const u64 *at, u32 active, u32 bytes, bool gfx12, bool serial);

} // namespace nw::sim::timing

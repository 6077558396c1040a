// SPDX-License-Identifier: MIT
// Expected state of a wave after an instruction: the rows' results under modifiers, op_sel,
// constants, DPP and EXEC.
#pragma once
#include <vector>

#include "isa/random/text.h"

namespace nw::oracle {

struct Expected {
    u64 d;
    u64 counts = ~u64{0}; // bits of d that do
    bool mask;            // the lane's bit of VCC or of another mask SGPR; SCC
    bool exec;            // the lane's bit
    u32 scalar_exec = 0;  // of scalar instructions

    bool same(u64 got) const { return !((got ^ d) & counts); }
};

// One lane, whatever EXEC says; operands that aren't VGPRs are in `lane` already.
Expected lane_result(const Row &, const Variant &, const LaneIn &lane, bool mask, const Env &);

// A wave of `lanes`, 32 or 64.
std::vector<Expected> expected(const Row &, const Variant &, const WaveIn *, const LaneIn *,
                               unsigned lanes, bool gfx12);

} // namespace nw::oracle

// SPDX-License-Identifier: MIT
// Instructions that move values between lanes, under random EXEC, against a model of a whole
// wave32.
#pragma once
#include <array>
#include <functional>
#include <vector>

#include "isa/random/text.h"

namespace nw::oracle {

using Lanes = std::array<u32, 32>;

struct WaveState {
    Lanes a, b, c, old;
    u32 exec;
};

struct LaneCase {
    std::string text; // of v2, v4, v6 to v8; s14 and s15 hold c of lanes 0 and 1
    std::function<Lanes(const WaveState &)> result;
    std::string name() const { return text.substr(0, text.find(' ')); }
};

// DPP16, DPP8, v_permlane*, ds_bpermute, ds_permute, ds_swizzle, lane reads and writes, mbcnt (3.12
// to 3.22, 5.12 to 5.14).
std::vector<LaneCase> lane_cases(const std::string &gfx);

} // namespace nw::oracle

// SPDX-License-Identifier: MIT
// VOPD: two rows in one instruction that see the same old registers (3.8).
#pragma once
#include <array>
#include <string>
#include <vector>

#include "isa/random/expected.h"
#include "isa/random/operands.h"

namespace nw::oracle {

// A half's source: of v2 to v9, s38, or a constant.
struct DualSource {
    u32 vgpr = 0;
    Operand other{}; // where `vgpr` is 0
};

struct DualHalf {
    const Row *row;
    u32 d; // v8 or v9
    std::array<DualSource, 2> source;
};

struct DualCase {
    DualHalf x, y;
    std::string text;
    std::string name() const { return "v_dual of " + x.row->name + " and " + y.row->name; }
};

// Every pair of halves that LLVM has, in every pattern of sources.
std::vector<DualCase> dual_cases(const std::string &gfx);

// LaneIn's dwords are v2 to v9.
LaneIn dual_operands(const DualCase &, Random &);

// v8 and v9 of an active lane.
std::array<Expected, 2> dual_result(const DualCase &, const LaneIn &, const WaveIn &, unsigned lane,
                                    bool gfx12);

} // namespace nw::oracle

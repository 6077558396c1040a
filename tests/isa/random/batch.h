// SPDX-License-Identifier: MIT
// Waves full of operands, run on the simulator.
#pragma once
#include "isa/random/operands.h"
#include "isa/random/text.h"
#include "sim/func/alu/frames.h"
#include "sim/func/machine.h"

namespace nw::oracle {

struct Batch {
    unsigned wave; // lanes
    std::vector<LaneIn> in;
    std::vector<WaveIn> halves; // one for every 32 lanes
    std::vector<LaneOut> out;
    u64 modes = 0;
};

// Under how many waves' operands and MODEs a form is tried: all pairs of hard values under every
// MODE, or just a few of either.
enum class Amount : u8 { thorough, some, few };

Batch make_batch(const Row &, const Variant &, u32 form, const std::string &gfx, unsigned wave,
                 Amount, unsigned waves, Random &);

// EXEC of one of a series of waves: all lanes, none, one, some.
u32 some_exec(unsigned turn, Random &);

// Fills `out`.
void run(const sim::Program &, const std::string &kernel, const std::string &gfx, Batch &);

} // namespace nw::oracle

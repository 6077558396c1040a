// SPDX-License-Identifier: MIT
// A kernel's structure and what it does in each part: all that `nw info` says but cycles.
#pragma once
#include <memory>
#include <vector>

#include "lint/facts.h"
#include "lint/liveness.h"
#include "lint/loops.h"
#include "lint/pairs.h"
#include "lint/work.h"

namespace nw::lint {

struct Survey {
    // Throws nw::Error where the kernel begins at no instruction.
    Survey(const sim::Program &, const sim::KernelInfo &);

    const sim::Code &code;
    const sim::KernelInfo &kernel;
    const Flow flow;
    const Facts facts;
    const Liveness live;
    const Loops loops;
    const Pairs pairs;

    u32 vgprs_used = 0, sgprs_used = 0; // the highest that is named, and one; VCC isn't among them
    u32 instructions = 0, bytes = 0;    // that control reaches
    std::vector<Work> blocks;           // each gone through once
    Work total;                         // of all blocks
    bool wmma_may_clash = false;        // the gfx is one that it costs on

    // A trip of a loop: each of its blocks once, those of loops within as often as these go round
    // where that is known. More than is done where branches go past a block.
    Work trip(const Loop &) const;
    Pairs::Counts pairs_of(const std::vector<u32> &blocks) const;
    // How often a block is gone through in a trip of the loop, by what is known.
    u64 times(const Loop &, u32 block) const;
};

} // namespace nw::lint

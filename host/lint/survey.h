// SPDX-License-Identifier: MIT
// A kernel's structure and the work of its blocks: what `nw info` shows except cycles.
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
    // Throws nw::Error if the kernel's entry is not an instruction.
    Survey(const sim::Program &, const sim::KernelInfo &);

    const sim::Code &code;
    const sim::KernelInfo &kernel;
    const Flow flow;
    const Facts facts;
    const Liveness live;
    const Loops loops;
    const Pairs pairs;

    u32 vgprs_used = 0, sgprs_used = 0; // highest register + 1; without VCC
    u32 instructions = 0, bytes = 0;    // reachable
    std::vector<Work> blocks;           // of one execution each
    Work total;                         // of all blocks
    bool wmma_may_clash = false;        // bank clashes of WMMA cost time on this gfx

    // One iteration of a loop: each block once, blocks of inner loops times their trip count if
    // known. An upper bound where branches skip blocks.
    Work trip(const Loop &) const;
    Pairs::Counts pairs_of(const std::vector<u32> &blocks) const;
    // Executions of a block in one iteration of the loop, with the known trip counts.
    u64 times(const Loop &, u32 block) const;
};

} // namespace nw::lint

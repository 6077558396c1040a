// SPDX-License-Identifier: MIT
// The loop nest of a kernel.
#pragma once
#include <optional>
#include <vector>

#include "lint/flow.h"

namespace nw::lint {

struct Loop {
    u32 head = 0;             // the header; blocks are numbered as in Flow
    std::vector<u32> blocks;  // ascending, the header first; inner loops included
    std::vector<u32> latches; // blocks with a back edge to the header
    u32 parent = Flow::none;  // number of the enclosing loop
    u32 depth = 0;            // enclosing loops
    // Has further entries: the header is only the first of several.
    bool irreducible = false;
    // Trip count: executions of the header for each entry of the loop. Empty if the code does not
    // determine it.
    std::optional<u64> trips;
};

class Loops {
public:
    explicit Loops(const Flow &);

    // Sorted by header, so outer loops precede inner ones.
    const std::vector<Loop> &all() const { return loops_; }
    u32 of_block(u32 block) const { return innermost_[block]; } // Flow::none: in no loop

private:
    friend class LoopFinder;
    std::vector<Loop> loops_;
    std::vector<u32> innermost_; // by block
};

// The immediate dominator of each block; the entry block's is itself.
std::vector<u32> dominators(const Flow &);
bool dominates(const std::vector<u32> &dominators, u32 a, u32 b);

} // namespace nw::lint

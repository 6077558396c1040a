// SPDX-License-Identifier: MIT
// The loops of a kernel: what control goes round in, each within one other or in none.
#pragma once
#include <optional>
#include <vector>

#include "lint/flow.h"

namespace nw::lint {

struct Loop {
    u32 head = 0;             // the block that control comes by first; blocks are those of Flow
    std::vector<u32> blocks;  // ascending, the head first; with those of loops within
    std::vector<u32> latches; // blocks that go back to the head
    u32 parent = Flow::none;  // the loop around it, by number
    u32 depth = 0;            // loops around it
    // Control can also get in elsewhere: the head is then only the first of several.
    bool irreducible = false;
    // How often the head is run each time that control comes to the loop; empty where the code
    // alone doesn't say.
    std::optional<u64> trips;
};

class Loops {
public:
    explicit Loops(const Flow &);

    // By head, so outer ones come before those within.
    const std::vector<Loop> &all() const { return loops_; }
    u32 of_block(u32 block) const { return innermost_[block]; } // Flow::none: of no loop

private:
    friend class LoopFinder;
    std::vector<Loop> loops_;
    std::vector<u32> innermost_; // by block
};

// The one block that all ways from the beginning to each block pass last; of the first, itself.
std::vector<u32> dominators(const Flow &);
bool dominates(const std::vector<u32> &dominators, u32 a, u32 b);

} // namespace nw::lint

// SPDX-License-Identifier: MIT
// Paths of a kernel that only lanes with an address in scratch memory take.
//
// For a generic pointer a compiler may compare the address with the aperture of scratch memory, and
// branch. In a kernel without scratch memory no address is in it: the comparison is false in all
// lanes, and what follows from that (masks of no lane, masks equal to EXEC) is followed here.
#pragma once
#include <set>

#include "lint/facts.h"

namespace nw::lint {

class PrivatePaths {
public:
    PrivatePaths(const Flow &, const Facts &);

    // True if control can't pass from the block to this successor in a kernel without scratch.
    bool closed(const Block &from, u32 next) const { return closed_.contains({from.first, next}); }

private:
    std::set<std::pair<u32, u32>> closed_;
};

} // namespace nw::lint

// SPDX-License-Identifier: MIT
// Trip counts that the code determines: one scalar counter that starts at a constant, changes by a
// constant once per iteration, and is compared with a constant by the only exit branch.
#pragma once
#include <optional>
#include <vector>

#include "lint/loops.h"

namespace nw::lint {

class TripCounter {
public:
    TripCounter(const Flow &, const Loops &);
    std::optional<u64> trips(const Loop &) const;

private:
    struct Exit {
        u32 counter;      // SGPR
        u32 block, index; // of the comparison
        bool goes_on;     // result of the comparison that continues the loop
    };
    std::optional<Exit> exit_of(const Loop &) const;
    std::optional<u32> begin_of(const Loop &, u32 counter) const;
    // The only instruction of the loop that writes the counter, if it runs once per iteration.
    std::optional<u32> change_of(const Loop &, u32 counter) const;

    const Flow &flow_;
    const Loops &loops_;
    std::vector<u32> dominators_;
};

} // namespace nw::lint

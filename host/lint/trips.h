// SPDX-License-Identifier: MIT
// How often a loop is gone through, where the code alone says so: one scalar counter that begins
// with a constant, is changed by a constant once a trip, and is compared with a constant by the
// only branch that leaves.
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
        bool goes_on;     // while the comparison says that
    };
    std::optional<Exit> exit_of(const Loop &) const;
    std::optional<u32> begin_of(const Loop &, u32 counter) const;
    // The only instruction of the loop that writes the counter; where it is run once a trip.
    std::optional<u32> change_of(const Loop &, u32 counter) const;

    const Flow &flow_;
    const Loops &loops_;
    std::vector<u32> dominators_;
};

} // namespace nw::lint

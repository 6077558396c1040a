// SPDX-License-Identifier: MIT
// Scalar comparisons that a kernel repeats. A path that takes one as true and later, with the same
// values, as false is infeasible. A counter that equals 1 equals 0 after it is decremented.
#pragma once
#include <vector>

#include "lint/facts.h"

namespace nw::lint {

class Conditions {
public:
    static constexpr unsigned most = 64; // in a kernel; further ones are not tracked
    static constexpr u8 none = 255;

    Conditions(const Flow &, const Facts &);

    // The condition that an instruction writes to SCC, and whether SCC is its negation.
    struct Test {
        u8 condition = none;
        bool negated = false;
    };
    struct Effect {
        bool writes_scc = false;
        Test test;                            // if it writes SCC
        u64 forgets = 0;                      // conditions whose registers it overwrites
        std::vector<std::pair<u8, u8>> moves; // knowledge of the first moves to the second
    };
    const Effect &operator[](u32 instruction) const { return effects_[instruction - first_]; }
    // Conditions that are live at the start of a block: tested on some path before they are lost.
    u64 wanted(u32 block) const { return wanted_[block]; }
    // Whether SCC is live at the start of a block.
    bool wants_scc(u32 block) const { return wants_scc_[block]; }

private:
    void find_wanted(const Flow &, const Facts &);

    u32 first_ = 0;
    std::vector<Effect> effects_;
    std::vector<u64> wanted_;
    std::vector<bool> wants_scc_;
};

// Known conditions on one path.
struct Known {
    u64 known = 0, truth = 0;
    Conditions::Test scc;

    void step(const Conditions::Effect &);
    // Assumes this value of SCC; false if that is infeasible.
    bool assume(bool scc_is_one);
    bool includes(const Known &) const; // all knowledge of the other
    bool operator==(const Known &) const;
};

} // namespace nw::lint

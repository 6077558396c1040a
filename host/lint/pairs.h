// SPDX-License-Identifier: MIT
// The VOPD pairs of a kernel, and the missed pairs with the rule that forbids each.
#pragma once
#include <array>
#include <vector>

#include "lint/facts.h"
#include "lint/vopd.h"

namespace nw::lint {

// Two single instructions of a block that would be a pair without this violated rule.
struct MissedPair {
    u32 first, second;
    VopdRule rule;
    bool at_first = true; // the second can move up to the first, else only the first down
};

// Each single VALU instruction with a dual form is in at most one missed pair: with the nearest
// later one that no rule forbids, else the nearest that a rule other than a dependency forbids,
// else the nearest dependent one. Near means `window` instructions. One of the two must be able to
// move to the other: nothing between depends on it, no wait that it would pass upwards, no change
// of EXEC.
class Pairs {
public:
    static constexpr u32 window = 32;

    Pairs(const Flow &, const Facts &);

    const std::vector<MissedPair> &missed() const { return missed_; } // by first

    // Counts over these blocks.
    struct Counts {
        u64 taken = 0;                        // VOPD instructions
        u64 without_form = 0;                 // single VALU instructions without dual form
        u64 alone = 0;                        // with one, but no partner near
        std::array<u64, vopd_rules> missed{}; // pairs, by rule
        Counts &operator+=(const Counts &);
    };
    const Counts &counts(u32 block) const { return counts_[block]; }

private:
    std::vector<MissedPair> missed_;
    std::vector<Counts> counts_; // by block
};

} // namespace nw::lint

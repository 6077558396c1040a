// SPDX-License-Identifier: MIT
// The VOPD pairs of a kernel: those it has, and those it could have, or what forbids them.
#pragma once
#include <array>
#include <vector>

#include "lint/facts.h"
#include "lint/vopd.h"

namespace nw::lint {

// Two single instructions of a block that would be one if `rule` weren't broken.
struct MissedPair {
    u32 first, second;
    VopdRule rule;
};

// Each single VALU instruction with a dual form is in at most one missed pair: first with the
// nearest one behind it that nothing forbids, else with the nearest one that another rule than a
// dependency does, else with the nearest that depends. Near is `window` instructions; two may come
// together where what is between neither depends on the one that moves, nor is a wait that it would
// pass upwards, nor changes EXEC.
class Pairs {
public:
    static constexpr u32 window = 32;

    Pairs(const Flow &, const Facts &);

    const std::vector<MissedPair> &missed() const { return missed_; } // by first

    // Of these blocks.
    struct Counts {
        u64 taken = 0;                        // VOPD instructions
        u64 without_form = 0;                 // single VALU instructions without dual form
        u64 alone = 0;                        // with one, and no other near
        std::array<u64, vopd_rules> missed{}; // pairs, by rule
        Counts &operator+=(const Counts &);
    };
    const Counts &counts(u32 block) const { return counts_[block]; }

private:
    std::vector<MissedPair> missed_;
    std::vector<Counts> counts_; // by block
};

} // namespace nw::lint

// SPDX-License-Identifier: MIT
// Scalar comparisons that a kernel makes more than once, so that a way through the code that takes
// one of them for true and later, with the same values, for false is known to be none. A counter
// that is equal to 1 is equal to 0 when it has been counted down.
#pragma once
#include <vector>

#include "lint/facts.h"

namespace nw::lint {

class Conditions {
public:
    static constexpr unsigned most = 64; // of a kernel; further ones are not followed
    static constexpr u8 none = 255;

    Conditions(const Flow &, const Facts &);

    // Of an instruction: which condition it makes SCC, and whether SCC says that it is false.
    struct Test {
        u8 condition = none;
        bool negated = false;
    };
    struct Effect {
        bool writes_scc = false;
        Test test;                            // where it writes SCC
        u64 forgets = 0;                      // conditions whose registers it writes
        std::vector<std::pair<u8, u8>> moves; // what was known of the first is then of the second
    };
    const Effect &operator[](u32 instruction) const { return effects_[instruction - first_]; }
    // Those that some way from the beginning of a block asks for before it forgets them.
    u64 wanted(u32 block) const { return wanted_[block]; }
    // Whether a block may read SCC as it is where it begins.
    bool wants_scc(u32 block) const { return wants_scc_[block]; }

private:
    void find_wanted(const Flow &, const Facts &);

    u32 first_ = 0;
    std::vector<Effect> effects_;
    std::vector<u64> wanted_;
    std::vector<bool> wants_scc_;
};

// What is known of them on one way.
struct Known {
    u64 known = 0, truth = 0;
    Conditions::Test scc;

    void step(const Conditions::Effect &);
    // Goes on where SCC is that; false: nobody gets there.
    bool assume(bool scc_is_one);
    bool includes(const Known &) const; // knows all that the other does
    bool operator==(const Known &) const;
};

} // namespace nw::lint

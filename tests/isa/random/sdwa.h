// SPDX-License-Identifier: MIT
// SDWA (gfx10): a byte or a half of a source, and where in the destination the result goes.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::oracle {

struct Sdwa {
    enum class Rest : u8 { zeros, sign, kept }; // of the destination
    struct Piece {
        const char *name = "DWORD";
        unsigned bits = 32, shift = 0;
    };
    std::array<Piece, 2> source{};
    std::array<bool, 2> sign{}; // a source is extended by its sign: integers only
    Piece result;
    Rest rest = Rest::zeros;

    // Source n of an instruction that has `count`, and a destination other than a lane mask or not.
    std::string text(unsigned count, bool has_result) const;
    u64 take(u64 source, unsigned n) const;
    // The destination's 32 bits.
    u64 place(u64 value, u64 old) const;
};

// A few, with pieces of every kind at each place. `half`: of a 16-bit result, which never fills the
// register.
std::vector<Sdwa> sdwa_forms(bool half);

} // namespace nw::oracle

// SPDX-License-Identifier: MIT
// Places in scratch memory where compilers keep registers: constant offsets from an SGPR.
#pragma once
#include <optional>

#include "base/targets.h"
#include "sim/isa/instruction.h"

namespace nw::sim {

struct Spill {
    bool store = false; // else a load
    u16 vgpr = 0, count = 1;
    u16 base = sreg::null; // SGPR that is added
    i64 offset = 0;

    // Place of its n-th dword; differs from every register's number.
    u64 place(unsigned n) const {
        return u64{base} << 32 | u64{1} << 48 | static_cast<u32>(offset + 4 * n);
    }
};

// Empty for other instructions. gfx10: of buffer instructions, those whose descriptor is s[0:3].
std::optional<Spill> spill_of(const Operation &, const Target &);

} // namespace nw::sim

// SPDX-License-Identifier: MIT
// Whether a weaker wait can make a difference, by an analysis that has nothing of the lint's but
// the control flow and what each instruction touches: for each register the youngest that a write
// to it may be, of all ways that the code has, whatever is known of conditions.
#pragma once
#include <set>
#include <string_view>
#include <tuple>

#include "lint/flow.h"

namespace nw::lint::test {

// Accesses in flight at a point: the instruction, and a register by its place in a RegisterSet
// or one of the places below; how many younger ones there may be on each counter.
struct Touch {
    static constexpr u16 lds_written = 1000, memory_written = 1001; // where others may look
    u32 instruction;
    u16 place;
    bool write;
    u32 ages; // of the four counters, a byte each
    auto operator<=>(const Touch &) const = default;
};
using Touches = std::set<Touch>;

// The observable states of a kernel. A mutant with the same ones behaves as the kernel does.
Touches touches_in_flight(const Flow &, bool gfx12);

// Whether nothing that a nop or a wait for a hazard is there for can strike behind it, on this gfx:
// what begins each of them lies too far back, or nowhere. False also where that isn't known.
bool guards_no_hazard(const Flow &, u32 instruction, std::string_view gfx);

// Whether a wave may touch LDS on one side of a barrier that another one has written on the other.
bool shares_lds(const Flow &, u32 barrier);

} // namespace nw::lint::test

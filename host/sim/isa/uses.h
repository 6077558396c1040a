// SPDX-License-Identifier: MIT
// Which registers an instruction reads and writes, and which counters it moves or waits on.
#pragma once
#include <vector>

#include "sim/isa/instruction.h"
#include "sim/isa/register_set.h"

namespace nw::sim {

struct RegisterUse {
    enum Bank : u8 { vgpr, sgpr };
    Bank bank = vgpr;
    bool write = false; // else it is read
    u16 first = 0, count = 1;

    // Place of its n-th register in a RegisterSet.
    unsigned place(unsigned n) const {
        return bank == vgpr ? RegisterSet::of_vgpr(first + n) : RegisterSet::of_sgpr(first + n);
    }
};

// Explicit operands, accumulators, and VCC and SCC where they are implied. Implied EXEC and M0 are
// not listed: no memory instruction returns into them.
std::vector<RegisterUse> register_uses(const Instruction &);
RegisterSet registers(const std::vector<RegisterUse> &);

// The counters of outstanding memory instructions, by what they count on both gfx11 and gfx12.
// gfx11 calls lds and smem together lgkmcnt, load vmcnt and store vscnt.
enum class Counter : u8 { load, store, lds, smem, count };

// What issuing the instruction adds to; flat ones count twice.
struct Issues {
    bool on[static_cast<int>(Counter::count)] = {};
    bool any() const { return on[0] || on[1] || on[2] || on[3]; }
};
Issues issues(const Instruction &, bool gfx12);

// How many may be outstanding after a wait instruction; `unlimited` where it doesn't wait.
struct WaitLimits {
    static constexpr u32 unlimited = ~0u;
    u32 limit[static_cast<int>(Counter::count)] = {unlimited, unlimited, unlimited, unlimited};
};
WaitLimits wait_limits(const Instruction &, bool gfx12);

} // namespace nw::sim

// SPDX-License-Identifier: MIT
// Reports registers accessed while a memory instruction that writes them is in flight. The halves
// of a VGPR are two registers.
//
// Loads and LDS operations count down in order: "at most n outstanding" means that all but the
// newest n are done. Scalar loads return out of order: only a wait for 0 is useful. Two loads to
// the same register land in order on gfx10 and gfx11 if they are of one kind, on gfx12 in any
// order (H-010). Stores read their registers at issue, so overwriting these later is no bug. Stores
// are tracked for H-011 and H-012; their visibility to others is the race check's (not_waited).
//
// bvhcnt and expcnt are ignored: only rays, exports and parameter loads use them, and none of these
// is simulated.
#pragma once
#include <deque>
#include <vector>

#include "sim/func/wave.h"
#include "sim/isa/hazards/hazards.h"
#include "sim/isa/uses.h"

namespace nw::sim {

// Static facts about each instruction, made once per program.
struct WaitFacts {
    struct Entry {
        std::vector<RegisterUse> uses;
        Issues issues;
        WaitLimits limits;
        bool waits = false;
        IsFirst is_first;
        bool system_store = false;                // gfx12: must be waited for alone (H-011)
        bool to_scratch = false, dealloc = false; // conflict (H-012)
        bool writes_scalar = false, writes_back = false, ends = false; // S-077
        // Changes or waits for counters: always seen by the check.
        bool counts() const {
            return waits || is_first.awaited || dealloc || writes_back || ends || issues.any();
        }
    };
    std::vector<Entry> entries; // by instruction index
    const Target *target;
    WaitFacts(const Code &code, const Target &);
};

class WaitCheck {
public:
    explicit WaitCheck(const WaitFacts &facts) : facts_(&facts) {}
    void reset();
    // Call before the instruction runs, if it counts() or uses a register of in_flight(). Throws
    // Fault.
    void step(const Wave &, const Inst &);
    // Registers with a pending write by a memory instruction.
    const RegisterSet &in_flight() const { return in_flight_; }

private:
    static constexpr unsigned counters = simulated_counters;
    struct Flight {
        u32 inst = 0;
        u8 pending = 0; // counters that still include it
        Issues issues;
    };

    void wait(const WaitLimits &);
    void land(Counter, size_t keep);
    void land_is_first(i64 barrier);
    void arrive(u32 number);
    void check(const Wave &, const Inst &, const WaitFacts::Entry &);
    void launch(const Inst &, const WaitFacts::Entry &, bool returns);
    void check_system_store(const Wave &, const Inst &) const;
    void check_dealloc(const Wave &, const Inst &) const;
    void check_end(const Wave &, const Inst &) const;
    void report(const Wave &, const Inst &, Hazard, const char *subject, u32 earlier) const;
    void report(const Wave &, const Inst &, const RegisterUse &, unsigned reg, u32 flight) const;

    const WaitFacts *facts_;
    std::deque<Flight> flights_; // element 0 is flight number base_
    u32 base_ = 1;
    std::deque<u32> outstanding_[counters]; // flight numbers, oldest first
    RegisterSet in_flight_;                 // with any half
    static constexpr u32 nothing = ~0u;
    u32 dirty_ = nothing; // the last store of SGPRs that is not written back
    // The flight that writes a half of a register, 0 if none: low halves and SGPRs, high halves.
    u32 owner_[2][RegisterSet::vgprs + RegisterSet::sgprs] = {};
};

} // namespace nw::sim

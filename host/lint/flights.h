// SPDX-License-Identifier: MIT
// Rules W-001 to W-004, W-006, W-007, H-010, H-011 and H-012: registers and memory while memory
// instructions are in flight.
//
// The state holds, for each memory instruction in flight, the minimum number of younger ones on its
// counters. Loads, stores and LDS return in order, so "at most n outstanding" means that all but
// the newest n are done.
#pragma once
#include <array>
#include <vector>

#include "lint/facts.h"
#include "lint/finding.h"

namespace nw::lint {

class InFlight {
public:
    static constexpr unsigned counters = static_cast<unsigned>(sim::Counter::count);
    static constexpr u8 landed = 255,
                        many = 64; // ages saturate here: no wait allows more
    // Scalar loads return in any order, as do exports of different kinds: only a wait for 0 proves
    // that one is done.
    static constexpr bool in_any_order(unsigned counter) {
        return static_cast<sim::Counter>(counter) == sim::Counter::smem ||
               static_cast<sim::Counter>(counter) == sim::Counter::exp;
    }
    struct Flight {
        u32 instruction;
        std::array<u8, counters> age; // minimum number of younger ones on the counter
        bool operator==(const Flight &) const = default;
    };
    bool operator==(const InFlight &) const = default;

    InFlight() = default;
    // Without ages: only a wait for 0 completes anything. For code with too many paths.
    static InFlight coarse() {
        InFlight out;
        out.coarse_ = true;
        return out;
    }

    bool join(const InFlight &);
    void forget() { flights_.clear(), most_ = {}; }
    void wait(const sim::WaitLimits &);
    void issue(u32 instruction, const sim::Issues &);
    // Removes the flights for whose instruction `done` returns true: their results have arrived.
    template <class Done> void land_if(Done done) {
        std::erase_if(flights_, [&](const Flight &f) { return done(f.instruction); });
    }

    const std::vector<Flight> &flights() const { return flights_; } // by instruction
    u8 most(unsigned counter) const { return most_[counter]; }      // outstanding

private:
    std::vector<Flight> flights_;
    std::array<u8, counters> most_ = {};
    bool coarse_ = false;
};

Findings find_in_flight(const Flow &, const Facts &);

} // namespace nw::lint

// SPDX-License-Identifier: MIT
// Rules W-001 to W-004, W-006, H-010, H-011 and H-012: registers and memory while memory
// instructions are in flight.
//
// What is followed is, for each memory instruction, the fewest younger ones that may have been
// issued on its counters: loads, stores and LDS return in order, so "at most n outstanding" means
// that all but the newest n are done.
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
                        many = 64; // ages beyond that are all one: no wait says so many
    // Scalar loads come back in any order, and exports of different kinds do: only 0 says that one
    // is done.
    static constexpr bool in_any_order(unsigned counter) {
        return static_cast<sim::Counter>(counter) == sim::Counter::smem ||
               static_cast<sim::Counter>(counter) == sim::Counter::exp;
    }
    struct Flight {
        u32 instruction;
        std::array<u8, counters> age; // younger ones on the counter, at least
        bool operator==(const Flight &) const = default;
    };
    bool operator==(const InFlight &) const = default;

    InFlight() = default;
    // Without ages: only a wait for 0 lands anything. For code that would take too long.
    static InFlight coarse() {
        InFlight out;
        out.coarse_ = true;
        return out;
    }

    bool join(const InFlight &);
    void forget() { flights_.clear(), most_ = {}; }
    void wait(const sim::WaitLimits &);
    void issue(u32 instruction, const sim::Issues &);

    const std::vector<Flight> &flights() const { return flights_; } // by instruction
    u8 most(unsigned counter) const { return most_[counter]; }      // outstanding

private:
    std::vector<Flight> flights_;
    std::array<u8, counters> most_ = {};
    bool coarse_ = false;
};

Findings find_in_flight(const Flow &, const Facts &);

} // namespace nw::lint

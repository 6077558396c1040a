// SPDX-License-Identifier: MIT
// Instruction counters of a launch. Each instruction has an entry fixed at build time, so counting
// by class and by fidelity is one increment.
#pragma once
#include <span>
#include <vector>

#include "sim/func/wave.h"
#include "sim/isa/tables/fidelity.h"

namespace nw::sim {

class Tallies {
public:
    Tallies();
    // Finds or creates the entry of an instruction of this class.
    u8 entry(Class cls, const Instruction &, Generation);
    size_t size() const { return entries_.size(); }
    // How many of the counted instructions access memory or LDS. Without scalar loads: what they
    // read doesn't change during a launch.
    u64 accesses(std::span<const u64> counts) const;
    // Adds counts per entry to the statistics. `fast_math`: as in RunConfig.
    void add_up(std::span<const u64> counts, bool fast_math, RunStats &) const;

private:
    struct Entry {
        Class cls;
        FidelityNote exact_math, fast_math; // by what the launch is run with
    };
    std::vector<Entry> entries_; // first the exact entry of each class
};

} // namespace nw::sim

// SPDX-License-Identifier: MIT
// What a launch counts. Every instruction has an entry, known when the program is built, so
// counting by class and by fidelity is one increment.
#pragma once
#include <span>
#include <vector>

#include "sim/func/wave.h"
#include "sim/isa/fidelity.h"

namespace nw::sim {

class Tallies {
public:
    Tallies();
    // The entry of an instruction of this class, made where there is none yet.
    u8 entry(Class cls, const Instruction &);
    size_t size() const { return entries_.size(); }
    // Adds instructions and fidelity, from counts by entry. `fast_math`: as in RunConfig.
    void add_up(std::span<const u64> counts, bool fast_math, RunStats &) const;

private:
    struct Entry {
        Class cls;
        FidelityNote exact_math, fast_math; // by what the launch is run with
    };
    std::vector<Entry> entries_; // the first are the classes' exact instructions
};

} // namespace nw::sim

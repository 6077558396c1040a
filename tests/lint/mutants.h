// SPDX-License-Identifier: MIT
// Kernels with one bug each: every wait, nop and barrier of a kernel taken out or made to wait for
// less, one at a time.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "lint/flow.h"
#include "sim/isa/code.h"

namespace nw::lint::test {

struct Edit {
    u32 instruction = 0;
    std::array<u32, 2> words = {}; // its encoding; the second where there was one
    sim::Instruction decoded;
};

struct Mutant {
    u32 instruction = 0;     // the first that is changed
    std::string change;      // "removed", "weakened vmcnt", "without va_vcc", "pair removed"
    std::vector<Edit> edits; // two for a barrier of gfx12
};

// All reachable instructions, for that gfx.
std::vector<Mutant> mutants_of(const Flow &, std::string_view gfx);

// The code with the mutant's instructions instead, as long as this lives.
class Applied {
public:
    Applied(sim::Code &, const Mutant &);
    ~Applied();
    Applied(const Applied &) = delete;

private:
    void put(u32 instruction, sim::Instruction);

    sim::Code &code_;
    std::vector<std::pair<u32, sim::Instruction>> before_;
};

} // namespace nw::lint::test

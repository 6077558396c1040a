// SPDX-License-Identifier: MIT
// Properties of each instruction that the rules need, computed once for a kernel.
#pragma once
#include <string_view>
#include <vector>

#include "lint/flow.h"
#include "sim/isa/code.h"
#include "sim/isa/hazards/hazards.h"
#include "sim/isa/relative_move.h"
#include "sim/isa/uses.h"

namespace nw::lint {

struct Fact {
    sim::HazardRole role; // uses among it
    sim::RegisterSet reads, writes;
    const sim::RelativeMove *relative = nullptr; // M0 selects registers
    sim::Issues issues;
    sim::WaitLimits limits;
    bool waits = false;        // for counters of memory instructions
    bool barrier = false;      // signals a barrier
    bool ends = false;         // ends the wave
    bool exports = false;      // reads EXEC and its VGPRs after it was issued
    bool to_lds = false;       // writes LDS
    bool dma_to_lds = false;   // the same, and counts as a load from memory
    bool uses_lds = false;     // reads or writes it, as far as is known
    bool to_scratch = false;   // writes scratch memory
    bool from_scratch = false; // reads it
    sim::IsFirst is_first;
    bool system_store = false; // gfx12: needs all earlier memory instructions done (H-011)

    bool changes_exec() const { return role.writes_exec || role.cmpx; }
};

inline bool is_exec(const sim::Operand &o) {
    return o.kind == sim::Operand::Kind::sgpr && o.reg == sim::sreg::exec;
}

// Where M0 selects a register, the ones that it may be: from the one of the encoding on.
sim::RegisterUse selectable(sim::RegisterUse);
// Adds what the instruction may write besides `writes`: the registers that M0 may select.
void add_selectable(sim::RegisterHalves &, const Fact &);

class Facts {
public:
    Facts(const Flow &, std::string_view gfx);

    // Facts of a reachable instruction.
    const Fact &operator[](u32 instruction) const { return facts_[instruction - first_]; }
    bool gfx12() const { return generation() == Generation::gfx12; }
    Generation generation() const { return target_->generation; }
    const Target &target() const { return *target_; }
    bool has(sim::Hazard h) const { return hazards_[static_cast<size_t>(h)]; }
    u32 wave_size() const { return wave_size_; }

private:
    const Target *target_;
    u32 wave_size_;
    bool hazards_[static_cast<size_t>(sim::Hazard::count)] = {};
    u32 first_;
    std::vector<Fact> facts_;
};

} // namespace nw::lint

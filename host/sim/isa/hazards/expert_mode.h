// SPDX-License-Identifier: MIT
// H-029: while SCHED_MODE is 2, gfx12 leaves it to the program that VGPRs of vector instructions
// are written, and those of memory instructions read, before others touch them. The wait check
// follows it along a wave's execution, the lint along all paths.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "sim/isa/hazards/hazards.h"

namespace nw::sim {

// Properties of an instruction in this mode, besides its registers.
struct ExpertRole {
    // Instructions of one class finish in order; memory instructions finish when they have read.
    enum Class : u8 { none, plain, f64, trans, matrix, vmem, lds, flat };
    Class cls = none;
    u8 vdst = all_va, vsrc = all_vm; // a wait leaves at most this many outstanding
    bool sets_mode = false;
    std::optional<u8> mode; // that it sets; empty: not known

    static constexpr u8 all_va = AluLimits::all_va, all_vm = AluLimits::all_vm; // these don't wait
    bool vector() const { return cls >= plain && cls <= matrix; }
    bool memory() const { return cls >= vmem; }
    bool matters() const { return cls != none || vdst != all_va || vsrc != all_vm || sets_mode; }
};
ExpertRole expert_role(const Instruction &, const HazardRole &);

// The dependency modes that exist: 0, and 2. `SCHED_MODE` bits besides [1:0] only stall.
inline constexpr u32 expert_bits = 3, expert_mode = 2;

class ExpertRecent {
public:
    void forget() { *this = {}; }
    // Merges another path's; true if it changed.
    bool join(const ExpertRecent &);

private:
    friend class ExpertHazards;
    struct Flight {
        u32 instruction;
        u8 younger; // least number of its class
    };
    bool normal_ = true, expert_ = false; // modes that it may be in
    std::vector<Flight> flights_;         // by instruction
};

class ExpertHazards {
public:
    using Roles = std::function<std::pair<const HazardRole &, const ExpertRole &>(u32 instruction)>;
    // The register, and the earlier instruction.
    using Report = std::function<void(const RegisterUse &, u32 earlier)>;

    explicit ExpertHazards(Roles roles) : roles_(std::move(roles)) {}
    // An instruction after those before it. `mode`: what it sets, where execution knows.
    void step(ExpertRecent &, u32 index, std::optional<u8> mode, const Report &) const;

private:
    void look(const ExpertRecent &, u32 index, const Report &) const;
    void issue(ExpertRecent &, u32 index) const;

    Roles roles_;
};

} // namespace nw::sim

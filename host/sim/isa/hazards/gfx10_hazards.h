// SPDX-License-Identifier: MIT
// H-016 to H-024, hazards of gfx10 alone: the recent instructions that can still conflict with the
// next one. The wait check follows it along a wave's execution, the lint along all paths.
#pragma once
#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "sim/isa/hazards/hazards.h"

namespace nw::sim {

class Gfx10Recent {
public:
    static constexpr u32 none = ~0u;

    void forget() { *this = {}; }
    // Merges another path's; true if it changed.
    bool join(const Gfx10Recent &);
    // Whether a vector instruction that writes no SGPR can change it.
    bool ages() const;

private:
    friend class Gfx10Hazards;
    // For each SGPR, EXEC and M0 included: the last instruction that may still read it.
    struct Readers {
        Sgprs live = 0;                  // that have one
        std::array<u32, sreg::scc> last; // of these
        u32 of(unsigned reg) const { return live >> reg & 1 ? last[reg] : none; }
        void add(unsigned reg, u32 reader) { live |= one_sgpr << reg, last[reg] = reader; }
        bool join(const Readers &);
    };

    u32 exec_reader_ = none;                // H-016
    std::array<u32, 2> last_{none, none};   // H-017: LDS, memory; at most one on each path
    std::array<u32, 2> behind_{none, none}; // and before a branch
    Readers smem_;                          // H-018
    std::array<Readers, 3> vmem_;           // H-019: loads, stores, LDS
    u32 image_ = none;                      // H-020
    u32 atomic_ = none;                     // H-023
    unsigned states_ = 0;                   // since then
};

class Gfx10Hazards {
public:
    // The earlier instruction, or Gfx10Recent::none; and what is in conflict: an SGPR's number, or
    // `subject` where that has text.
    using Report =
        std::function<void(Hazard, u32 earlier, unsigned sgpr, std::string_view subject)>;

    explicit Gfx10Hazards(bool gfx101x) : gfx101x_(gfx101x) {}
    // An instruction's role, after the instructions before it. `index` is what later ones report.
    void step(Gfx10Recent &, u32 index, const HazardRole &, const Gfx10Role &,
              const Report &) const;

private:
    static void step_exec(Gfx10Recent &, u32, const HazardRole &, const Gfx10Role &,
                          const Report &);
    static void step_branch(Gfx10Recent &, u32, const Gfx10Role &, const Report &);
    static void step_smem(Gfx10Recent &, u32, const HazardRole &, const Gfx10Role &,
                          const Report &);
    static void step_vmem(Gfx10Recent &, u32, const HazardRole &, const Gfx10Role &,
                          const Report &);
    static void step_own(Gfx10Recent &, u32, const Gfx10Role &, const Report &);
    static void step_denorm(Gfx10Recent &, u32, const HazardRole &, const Gfx10Role &,
                            const Report &);
    bool gfx101x_; // else H-023 alone
};

} // namespace nw::sim

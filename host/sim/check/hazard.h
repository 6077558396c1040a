// SPDX-License-Identifier: MIT
// Dynamic check of the hazards in isa/hazards.inc: keeps the window of a wave's recent instructions
// that can still conflict with the next one.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "sim/func/wave.h"
#include "sim/isa/hazards/expert_mode.h"
#include "sim/isa/hazards/gfx10_hazards.h"
#include "sim/isa/hazards/hazards.h"

namespace nw::sim {

// Static facts about each instruction, made once per program.
struct HazardFacts {
    struct Entry {
        HazardRole role;
        Sgprs reads = 0, writes = 0, masks = 0; // of the role's uses and masks
        bool watched = false;                   // always seen by the check
        std::optional<Hazard> clash;            // with the next instruction, unless resolved
        bool resolves_next = false;             // resolved if the preceding instruction did this
    };
    std::vector<Entry> entries;     // by instruction index
    std::vector<Gfx10Role> old;     // the same; empty but on gfx10
    std::vector<ExpertRole> expert; // the same; empty unless the code sets SCHED_MODE
    bool on[static_cast<size_t>(Hazard::count)] = {};
    unsigned ds_nops = 0; // s_nop count that resolves H-002
    HazardFacts(const Code &code, std::string_view gfx);
    bool has(Hazard h) const { return on[static_cast<size_t>(h)]; }

private:
    bool starts_something(const HazardRole &) const;
    bool starts_old(const HazardRole &, const Gfx10Role &) const;
    void watch_results();
    void watch_expert(const Code &);
};

class HazardCheck {
public:
    explicit HazardCheck(const HazardFacts &facts) : facts_(&facts) {
        if (!facts.old.empty())
            recent_.emplace();
        if (!facts.expert.empty())
            expert_.emplace();
    }
    void reset() { *this = HazardCheck(*facts_); }
    // Call before the instruction runs: for `watched` ones, and for all while following(). Throws
    // Fault.
    void step(const Wave &, const Inst &);
    bool following() const { return following_; }

private:
    using Entry = HazardFacts::Entry;
    // A violated hazard: the register, and the earlier instruction that is too close.
    struct Finding {
        RegisterUse use;
        u32 earlier;
    };
    using Result = std::optional<Finding>;

    Result find_trans_use(u32 index, const Entry &);
    Result find_forwarding(u32 index, const Entry &);
    Result find_mask_write(u32 index, const Entry &);
    Result find_read_sgpr(u32 index, const Entry &);
    Result find_parity(u32 index, const Entry &);
    void note_writes(u32 index, const Entry &, Sgprs watched);
    void resolve_by_scalar_read(Sgprs reads);
    void cross_call(const Entry &);
    Result find_neighbour(u32 index, const HazardRole &, Hazard);
    const RegisterUse *written_by(u32 index, const RegisterUse &) const;
    void report(const Wave &, const Inst &, Hazard, const Finding &,
                std::string_view subject = "") const;
    void step_gfx10(const Wave &, const Inst &);
    void step_expert(const Wave &, const Inst &);

    const HazardFacts *facts_;
    bool following_ = false;

    // H-003: transcendental instructions in the window, and how many were issued since.
    struct Trans {
        u32 index;
        unsigned valu, trans;
        RegisterHalves written;
    };
    std::array<Trans, trans_window_trans + 1> trans_;
    unsigned trans_count_ = 0;

    // H-004: the last vector instructions and scalar writes of EXEC, newest first.
    struct Event {
        u32 index;
        bool exec;
    };
    std::array<Event, 12> events_;
    unsigned event_count_ = 0;

    // H-026: the last vector instructions with results in VGPRs, newest first.
    std::array<u32, parity_window> results_;
    unsigned result_count_ = 0;

    // H-002, H-005: SGPRs (as pairs) that vector instructions read or used as masks, and which of
    // these were overwritten since.
    Sgprs read_ = 0, by_salu_ = 0, by_valu_ = 0;
    u32 writer_[sreg::count] = {}; // for registers in by_salu_ and by_valu_
    u32 written_at_[sreg::count] = {};
    u32 scalars_ = 0; // scalar instructions so far
    unsigned ds_nops_ = 0;

    bool resolved_ = false; // H-009: the preceding instruction is s_nop

    // H-006, H-007: the preceding vector instruction, if it can cause one of them.
    std::optional<u32> neighbour_;

    std::optional<Gfx10Recent> recent_; // on gfx10
    std::optional<ExpertRecent> expert_;
};

} // namespace nw::sim

// SPDX-License-Identifier: MIT
// The hazards of isa/hazards.inc as they happen: a wave's last few instructions, as far as one of
// them can still clash with the next.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "sim/func/wave.h"
#include "sim/isa/hazards.h"

namespace nw::sim {

// What the check needs to know of each instruction, made once per program.
struct HazardFacts {
    struct Entry {
        HazardRole role;
        Sgprs reads = 0, writes = 0, masks = 0; // of the role's uses and masks
        bool watched = false;                   // the check must see it in any case
        std::optional<Hazard> clash;            // with itself, unless
        bool resolves_next = false;             // what ran right before resolves it
    };
    std::vector<Entry> entries; // by instruction index
    bool on[static_cast<size_t>(Hazard::count)] = {};
    unsigned ds_nops = 0; // that resolve H-002
    HazardFacts(const Code &code, std::string_view gfx);
    bool has(Hazard h) const { return on[static_cast<size_t>(h)]; }

private:
    bool starts_something(const HazardRole &) const;
};

class HazardCheck {
public:
    explicit HazardCheck(const HazardFacts &facts) : facts_(&facts) {}
    void reset() { *this = HazardCheck(*facts_); }
    // Before the instruction runs. Only `watched` ones need it, and all while following(). Throws
    // Fault.
    void step(const Wave &, const Inst &);
    bool following() const { return following_; }

private:
    using Entry = HazardFacts::Entry;
    // A clash: the register, and the instruction that came too shortly before.
    struct Finding {
        RegisterUse use;
        u32 earlier;
    };
    using Result = std::optional<Finding>;

    Result find_trans_use(u32 index, const Entry &);
    Result find_forwarding(u32 index, const Entry &);
    Result find_mask_write(u32 index, const Entry &);
    Result find_read_sgpr(u32 index, const Entry &);
    void note_writes(u32 index, const Entry &, Sgprs watched);
    void resolve_by_scalar_read(Sgprs reads);
    void cross_call(const Entry &);
    Result find_neighbour(u32 index, const HazardRole &, Hazard);
    const RegisterUse *written_by(u32 index, const RegisterUse &) const;
    void report(const Wave &, const Inst &, Hazard, const Finding &) const;

    const HazardFacts *facts_;
    bool following_ = false;

    // H-003: the transcendental instructions of the window, and what has been issued since.
    struct Trans {
        u32 index;
        unsigned valu, trans;
        RegisterSet written;
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

    // H-002, H-005: SGPRs that vector instructions have read (and the other of the pair), or used
    // as masks, and those of them that have been overwritten since.
    Sgprs read_ = 0, by_salu_ = 0, by_valu_ = 0;
    u32 writer_[sreg::count] = {}; // of those in by_salu_ and by_valu_
    u32 written_at_[sreg::count] = {};
    u32 scalars_ = 0; // scalar instructions so far
    unsigned ds_nops_ = 0;

    bool resolved_ = false; // H-009: s_nop was right before

    // H-006, H-007: the last vector instruction, if it was one of these.
    std::optional<u32> neighbour_;
};

} // namespace nw::sim

// SPDX-License-Identifier: MIT
// The race check's barriers: the workgroup's, and gfx12's named ones (S-033).
#include <fmt/format.h>

#include "sim/check/race.h"
#include "sim/func/launch/barrier.h"
#include "sim/func/launch/report.h"

namespace nw::sim {

// ---- clocks passed on by a phase ----------------------------------------------------------------

Knowledge &RaceCheck::Phases::current(u32 number, const Knowledge &blank) {
    if (kept_.empty()) {
        first_ = number;
        kept_.push_back(blank);
    }
    while (first_ + kept_.size() <= number)
        kept_.push_back(Knowledge(kept_.back()));
    if (kept_.size() > most) {
        const auto old = static_cast<u32>(kept_.size() - most);
        kept_.erase(kept_.begin(), kept_.begin() + old);
        first_ += old;
    }
    return kept_[number - first_];
}

const Knowledge *RaceCheck::Phases::find(u32 number) const {
    if (kept_.empty() || number >= first_ + kept_.size())
        return nullptr;
    return &kept_[number < first_ ? 0 : number - first_];
}

// ---- instructions -------------------------------------------------------------------------------

void RaceCheck::barrier(Wave &w, const Inst &i, State &me, RaceFacts::Kind kind) {
    using Kind = RaceFacts::Kind;
    constexpr u32 the_groups = 0;
    if (waves_.size() == 1)
        return;
    if (kind == Kind::barrier || kind == Kind::end)
        signal(w, i, me, the_groups);
    if (kind == Kind::barrier || (kind == Kind::wait && i.imm == group_barrier))
        return await(me, the_groups, w.barriers);
    if (kind == Kind::wait) {
        if (i.imm <= null_barrier || !w.joined)
            return; // it has no effect, or is a Fault
        use_barrier(w, i, me, w.joined);
        return await(me, w.joined, w.joined_phases);
    }
    if (kind == Kind::barrier_leave || kind == Kind::end) {
        if (w.joined) // the other waves may proceed without it
            signal(w, i, me, w.joined);
        return;
    }
    const i32 number = barrier_number(w, i);
    if (number == group_barrier && kind == Kind::signal)
        return signal(w, i, me, the_groups);
    if (number < 1 || number > static_cast<i32>(named_barriers))
        return; // the same
    const auto named = static_cast<u32>(number);
    if (kind == Kind::signal)
        signal(w, i, me, named);
    else if (kind == Kind::barrier_init)
        init_barrier(w, i, me, named);
    else
        use_barrier(w, i, me, named);
}

void RaceCheck::signal(Wave &w, const Inst &i, State &me, u32 barrier) {
    if (barrier)
        use_barrier(w, i, me, barrier);
    const u32 phase = barrier ? w.group->named[barrier - 1].phase : w.group->phase;
    const Knowledge blank(first_, static_cast<u32>(waves_.size()));
    barriers_[barrier].phases.current(phase, blank).join(news_of(me));
    ++me.clock;
    me.news = 0;
    me.published.reset();
}

void RaceCheck::await(State &me, u32 barrier, u32 phase) {
    me.barrier = barrier;
    me.awaits = phase;
}

void RaceCheck::pass(State &me) {
    if (const Knowledge *phase = barriers_[me.barrier].phases.find(me.awaits))
        take(me, *phase);
    me.awaits = nothing;
}

// ---- s_barrier_init must precede all other uses, and no other wave may assume that it did -------

void RaceCheck::use_barrier(Wave &w, const Inst &i, State &me, u32 barrier) {
    Barrier &b = barriers_[barrier];
    if (b.init.wave != nothing && b.init.wave != w.number &&
        me.knows.of(first_ + b.init.wave, false).clock < b.init.clock)
        report_init(w, i, barrier, b.init, true);
    b.uses.resize(waves_.size());
    b.uses[w.number] = {w.number, me.clock, i.index};
}

void RaceCheck::init_barrier(Wave &w, const Inst &i, State &me, u32 barrier) {
    Barrier &b = barriers_[barrier];
    for (const BarrierUse &use : b.uses)
        if (use.wave != nothing && use.wave != w.number &&
            me.knows.of(first_ + use.wave, false).clock < use.clock)
            report_init(w, i, barrier, use, false);
    b = {};
    b.init = {w.number, me.clock, i.index};
}

void RaceCheck::report_init(const Wave &w, const Inst &i, u32 barrier, const BarrierUse &other,
                            bool init) const {
    Report r;
    r.check = "race";
    r.rule = "barrier_init";
    r.other = site_of(*w.context, other.inst, w.group->id, other.wave);
    const std::string text =
        fmt::format("race: wave {} {} barrier {}, which wave {} {} at {}: nothing orders the two; "
                    "put a barrier of the workgroup between s_barrier_init and all other uses",
                    w.number, init ? "uses" : "initialises", barrier, other.wave,
                    init ? "initialised" : "used", text_of(*r.other));
    finding(w, i, text, std::move(r));
}

} // namespace nw::sim

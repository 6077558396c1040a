// SPDX-License-Identifier: MIT
#include "sim/func/launch/barrier.h"

#include <fmt/format.h>

#include "sim/func/choices.h"
#include "sim/func/launch/launch.h"

namespace nw::sim {

namespace {

// ---- the workgroup's barrier: a phase is complete when every live wave has signalled

bool alone(const Wave &w) { return w.group->waves.size() == 1; }

void signal_group(Wave &w) {
    ++w.group->signalled;
    w.group->check_barrier();
}
void wait_for_group(Wave &w) {
    if (w.group->phase <= w.barriers)
        w.state = State::barrier; // the workgroup wakes it when the phase is complete
    ++w.barriers;
}

// ---- barrier numbers: src[0] is a constant or M0, whose high half is a member count

u32 operand_of(const Wave &w, const Inst &i) {
    return i.src[0].kind == Source::sgpr ? w.s[i.src[0].at] : i.src[0].value;
}
NamedBarrier &named_barrier(Wave &w, const Inst &i, i32 number) {
    if (number < 1 || number > static_cast<i32>(named_barriers))
        fault(w, i, Fault::Kind::barrier,
              fmt::format("barrier {} does not exist: named ones are 1 to {}", number,
                          named_barriers));
    return w.group->named[number - 1];
}

bool has_no_effect(const Wave &w, i32 number) {
    return number == trap_barrier || number == null_barrier ||
           (number == group_barrier && alone(w));
}

void signal(Wave &w, const Inst &i, i32 number) {
    if (number == group_barrier)
        return signal_group(w);
    NamedBarrier &b = named_barrier(w, i, number);
    if (b.members == 0)
        fault(w, i, Fault::Kind::barrier,
              fmt::format("barrier {} is signalled before s_barrier_init gave it members", number));
    ++b.signalled;
    b.check();
}

} // namespace

std::string Group::state_of_barrier(const Wave &w) const {
    if (!w.waits_for_joined)
        return fmt::format("{} have signalled", signalled);
    const NamedBarrier &b = named[w.joined - 1];
    return fmt::format("this one at barrier {}: {} of its {} members have signalled", w.joined,
                       b.signalled, b.members);
}

i32 barrier_number(const Wave &w, const Inst &i) {
    constexpr i32 m0_numbers = 32; // the last two are the negative ones
    const auto x = static_cast<i32>(operand_of(w, i));
    if (i.src[0].kind != Source::sgpr)
        return x;
    const i32 number = x & (m0_numbers - 1);
    return number >= m0_numbers + trap_barrier ? number - m0_numbers : number;
}

void barrier(Wave &w, const Inst &) {
    if (alone(w))
        return; // 4.15
    signal_group(w);
    wait_for_group(w);
}

void barrier_signal(Wave &w, const Inst &i) {
    if (i32 number = barrier_number(w, i); !has_no_effect(w, number))
        signal(w, i, number);
}

void barrier_signal_isfirst(Wave &w, const Inst &i) {
    i32 number = barrier_number(w, i);
    if (has_no_effect(w, number)) {
        if (choices().isfirst_alone == choice::isfirst_alone::set)
            w.scc() = 1;
        return;
    }
    w.scc() = number == group_barrier ? w.group->signalled == 0
                                      : named_barrier(w, i, number).signalled == 0;
    signal(w, i, number);
}

// Waiting on any named number waits for the barrier that the wave has joined.
void barrier_wait(Wave &w, const Inst &i) {
    if (has_no_effect(w, i.imm))
        return;
    if (i.imm == group_barrier)
        return wait_for_group(w);
    named_barrier(w, i, i.imm);
    if (w.joined == 0)
        fault(w, i, Fault::Kind::barrier,
              fmt::format("the wave waits for barrier {}, but has not joined one: s_barrier_join "
                          "comes first",
                          i.imm));
    w.waits_for_joined = w.group->named[w.joined - 1].phase <= w.joined_phases;
    if (w.waits_for_joined)
        w.state = State::barrier;
    ++w.joined_phases;
}

void barrier_init(Wave &w, const Inst &i) {
    constexpr unsigned member_shift = 16, member_mask = 0x7f;
    NamedBarrier &b = named_barrier(w, i, barrier_number(w, i));
    b = {};
    b.members = w.s[sreg::m0] >> member_shift & member_mask;
}

void barrier_join(Wave &w, const Inst &i) {
    i32 number = barrier_number(w, i);
    if (number == null_barrier) {
        w.joined = 0;
        return;
    }
    w.joined_phases = named_barrier(w, i, number).phase;
    w.joined = static_cast<u8>(number);
}

void barrier_leave(Wave &w, const Inst &) {
    w.scc() = w.joined != 0;
    w.group->leave_named(w);
}

void get_barrier_state(Wave &w, const Inst &i) {
    constexpr unsigned signalled_shift = 16, member_shift = 4;
    auto state = [&](u32 signalled, u32 members) {
        return signalled << signalled_shift | members << member_shift | 1;
    };
    i32 number = barrier_number(w, i);
    if (has_no_effect(w, number))
        w.s[i.dst] = 0;
    else if (number == group_barrier)
        w.s[i.dst] = state(w.group->signalled, static_cast<u32>(w.group->waves.size()));
    else if (NamedBarrier &b = named_barrier(w, i, number); b.members == 0)
        w.s[i.dst] = 0;
    else
        w.s[i.dst] = state(b.signalled, b.members);
}

} // namespace nw::sim

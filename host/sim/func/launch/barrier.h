// SPDX-License-Identifier: MIT
// Barrier instructions: the workgroup's barrier (4.15, 4.16) and gfx12's named ones (S-033).
#pragma once
#include "sim/func/wave.h"

namespace nw::sim {

// The operand or M0 of all but s_barrier_wait: a named barrier's number, or one of these.
inline constexpr i32 group_barrier = -1, trap_barrier = -2, null_barrier = 0;
i32 barrier_number(const Wave &, const Inst &);

void barrier(Wave &, const Inst &);
void barrier_signal(Wave &, const Inst &);
void barrier_signal_isfirst(Wave &, const Inst &);
void barrier_wait(Wave &, const Inst &);
void barrier_init(Wave &, const Inst &);
void barrier_join(Wave &, const Inst &);
void barrier_leave(Wave &, const Inst &);
void get_barrier_state(Wave &, const Inst &);

} // namespace nw::sim

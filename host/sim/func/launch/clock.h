// SPDX-License-Identifier: MIT
// The time that kernels can read: the modelled one, and without timing the number of instructions
// that the wave has executed, so that results don't depend on the host. (T-040, A-026)
#pragma once
#include "sim/func/wave.h"

namespace nw::sim {

// The clock that doesn't change with the load.
inline constexpr u64 constant_clock_mhz = 100;

// Without timing an executed instruction takes one cycle of this clock.
inline constexpr u64 untimed_mhz = 2500;

// Both are a reading by this instruction of the wave. A wave that does nothing but read the time,
// over and over, waits for it: without timing it then skips what it waits for, and the host's
// thread sleeps as long.
u64 shader_clock(Wave &, const Inst &);   // cycles
u64 constant_clock(Wave &, const Inst &); // ticks of constant_clock_mhz
u64 shader_clock_upper(const Wave &);     // cycles, for the upper half: no reading of its own

} // namespace nw::sim

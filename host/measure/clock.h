// SPDX-License-Identifier: MIT
// The shader clock that modelled times are at (T-093).
#pragma once
#include <string>

#include "base/types.h"

namespace nw {

// "2900 MHz (2420 where WMMA is always busy)". wmma_mhz 0: nothing lowers it.
std::string clock_text(f64 shader_mhz, f64 wmma_mhz);

// Sets the clock of all simulated devices that this process opens from now on: HIPSIM_CLOCK and
// HIPSIM_POWER, where a text is not empty.
void set_simulated_clock(const std::string &clock, const std::string &power);

} // namespace nw

// SPDX-License-Identifier: MIT
// The unit of the suite `sim`: a plain scalar interpreter, a switch in a loop.
#pragma once
#include "base/types.h"

namespace nw::bench {

// Runs a small program of 32-bit integer instructions, `loops` times around its loop; returns the
// number of instructions executed.
u64 interpret(u32 loops);

} // namespace nw::bench

// SPDX-License-Identifier: MIT
// How many times all banks of LDS are accessed for one instruction.
#pragma once
#include <span>

#include "base/types.h"

namespace nw::sim::timing {

// `at`: byte offsets in LDS of 32 lanes, of which those in `active` access `bytes` each.
// `serial`: an atomic, whose lanes wait for each other where they meet (T-052).
u32 lds_phases(const u64 *at, u32 active, u32 bytes, bool gfx12, bool serial);

} // namespace nw::sim::timing

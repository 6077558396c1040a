// SPDX-License-Identifier: MIT
// Units of the memory model: time in ticks, memory in sectors and lines.
#pragma once
#include "base/types.h"

namespace nw::sim::timing {

// The memory system counts in 1/256 cycles of the shader clock: a DRAM channel's burst isn't a
// whole number of cycles.
constexpr u32 ticks_per_cycle = 256;
constexpr u64 ticks(f64 cycles) { return static_cast<u64>(cycles * ticks_per_cycle + 0.5); }
constexpr u64 cycles_up(u64 ticks) { return (ticks + ticks_per_cycle - 1) / ticks_per_cycle; }

// All caches of the vector path have the same line and sector size (T-011).
constexpr u32 sector_bytes = 64, line_sectors = 2, line_bytes = sector_bytes * line_sectors;

// Sectors of a line: bit 0 is the lower one.
using Sectors = u32;
constexpr Sectors all_sectors = (1 << line_sectors) - 1;
constexpr u32 count(Sectors s) { return (s & 1) + (s >> 1); }

} // namespace nw::sim::timing

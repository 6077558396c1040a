// SPDX-License-Identifier: MIT
// Facts of the parts, of gen/targets.toml. host/sim/timing/parts.inc says what each is.
#pragma once
#include <span>
#include <string_view>

#include "base/estimate.h"

namespace nw {

// A GPU as one buys it.
struct Part {
    std::string_view name, gfx, product; // "8060S", "gfx1151", "AMD Radeon 8060S"
    bool apu;                            // shares the host's memory
    u32 wgps;                            // of two compute units each
    u32 shader_mhz, memory_mhz, memory_bus_bits;
    u32 l2_size; // bytes
    Estimate shader_arrays, l0_size, scalar_size, instruction_size, gl1_size, l2_channels;
    Estimate mall_size, mall_gb_per_s, mall_latency;
    Estimate dram_gb_per_s, dram_efficiency, dram_latency, dram_channels, dram_interleave;
    Estimate dram_hash, launch_overhead;
};

std::span<const Part> parts();

// The first of a gfx, which is its largest; null where it has none. It suits what can't ask a
// device: a choice by it is never wrong, only not the best for a smaller part.
const Part *default_part(std::string_view gfx);

} // namespace nw

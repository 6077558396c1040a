// SPDX-License-Identifier: MIT
// Facts of the parts, from gen/targets.toml. host/sim/timing/constants/parts.inc describes each.
#pragma once
#include <span>
#include <string_view>

#include "base/estimate.h"

namespace nw {

// A GPU product.
struct Part {
    std::string_view name, gfx, product; // "8060S", "gfx1151", "AMD Radeon 8060S"
    bool apu;                            // shares the host's memory
    u32 wgps;                            // of two compute units each
    u32 shader_mhz, memory_mhz, memory_bus_bits;
    u32 l2_size; // bytes
    Estimate wmma_mhz, power_w;
    Estimate shader_engines, shader_arrays, l0_size, scalar_size, instruction_size, gl1_size,
        l2_channels;
    Estimate mall_size, mall_gb_per_s, mall_latency;
    Estimate dram_gb_per_s, dram_efficiency, dram_latency, dram_channels, dram_interleave;
    Estimate dram_hash, launch_overhead, launch_gap, packet_interval, graph_gap, graph_launch;
    Estimate copy_overhead, link_gb_per_s, link_both_gb_per_s, copy_gb_per_s;
};

std::span<const Part> parts();

// The first part of a gfx, which is its largest; null if it has none. For code that can't query a
// device: a choice by it is correct on smaller parts, but may be slower.
const Part *default_part(std::string_view gfx);

} // namespace nw

// SPDX-License-Identifier: MIT
// Facts of a part in the timing model.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/half.h"
#include "bench/table.h"

namespace nw::bench {

struct Constant {
    std::string name, section, unit, origin, note;
    f64 value, lowest, highest;  // a profile may say these
    f64 likely_low, likely_high; // where the hardware's value likely is
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Constant, name, section, unit, origin, note, value, lowest,
                                   highest, likely_low, likely_high)

// All constants of a part ("8060S") or of the default part of a gfx.
std::vector<Constant> part_constants(std::string_view part);

// Highest bandwidth of a part's DRAM, by the model.
struct Bound {
    f64 gb_per_s = 0;    // sustained
    f64 overhead_us = 0; // of a launch of nothing
    f64 bus_gb_per_s = 0;
    f64 us(u64 bytes) const { return static_cast<f64>(bytes) / gb_per_s / 1e3; }
};
Bound dram_bound(std::string_view part);

// "2900 MHz (2420 where WMMA is always busy)"
std::string clock_text(std::string_view part);

// Peak FLOP/s of products with f32 accumulation, from clock, units and cycles of an instruction,
// and the instruction: WMMA if the target has it; else DOT2 of f16, or multiply-adds of f32 or of
// mixed types.
struct Peak {
    std::string_view by;
    f64 flops = 0;
};
Peak product_peak(std::string_view part, Dtype = Dtype::f16);
// The same for products with GGUF weights, which are dots of bytes if the target has these and no
// WMMA.
Peak gguf_peak(std::string_view part);
// FP8 WMMA, for targets that have it.
Peak fp8_peak(std::string_view part);

} // namespace nw::bench

// SPDX-License-Identifier: MIT
// A GPU product: unit counts and clocks. One named field per row of parts.inc, which begins with
// the rows of base/parts.h; a profile may override it.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "sim/timing/constants/constant.h"

namespace nw::sim::timing {

// How an address chooses its channel.
enum class ChannelHash : u32 {
    bits, // the address bits above the interleave
    hash, // those, rotated by a hash of all bits above them
};

struct Part {
    std::string_view name, gfx; // "8060S", "gfx1151"
#define FACT(name, unit_, ...) unit::unit_ name{};
#include "sim/timing/constants/parts.inc"
#undef FACT

    bool operator==(const Part &) const = default;
    u32 cus() const { return wgps * 2; }
    ChannelHash dram_channel_hash() const { return static_cast<ChannelHash>(dram_hash); }
    f64 cycles_of_ns(f64 ns) const { return ns * shader_mhz / 1000; }
    // The shader clock, in MHz, of a launch in which WMMA is busy for this share of the time
    // (T-093).
    f64 mhz_under(f64 wmma_share) const;
};

std::span<const Part> parts();                // the first one of a gfx is its default
const Part *find_part(std::string_view name); // null: unknown name
const Part *default_part(std::string_view gfx);

// The facts of a part. A value overridden by a profile keeps the original's origin; its range is
// its value.
std::vector<Constant> constants(const Part &part);
std::span<const Field<Part>> part_fields();

// Settings and options of these names; an empty text changes nothing. Both throw nw::Error with the
// rule, for a value of another form or outside the part's range.
void set_power(Part &part, std::string_view watts); // in place of power_w: moves wmma_mhz
// "sustained", which is within the power; "boost", or a clock in MHz that is held: without a limit
// of power, unless one `is_limited` by set_power().
void set_clock(Part &part, std::string_view clock, bool is_limited);

} // namespace nw::sim::timing

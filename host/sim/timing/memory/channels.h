// SPDX-License-Identifier: MIT
// Maps a line to its channel of L2 or DRAM.
#pragma once
#include "sim/timing/constants/part.h"
#include "sim/timing/memory/memory_units.h"

namespace nw::sim::timing {

class Channels {
public:
    Channels(u32 channels, u32 interleave_bytes, ChannelHash hash);
    u32 of(u64 line) const;
    u32 count() const { return channels_; }

private:
    u32 channels_, shift_;
    ChannelHash hash_;
};

} // namespace nw::sim::timing

// SPDX-License-Identifier: MIT
#include "sim/timing/memory/channels.h"

#include <bit>

namespace nw::sim::timing {

Channels::Channels(u32 channels, u32 interleave_bytes, ChannelHash hash)
    : channels_(channels), shift_(std::countr_zero(interleave_bytes / line_bytes)), hash_(hash) {}

u32 Channels::of(u64 line) const {
    u64 block = line >> shift_;
    if (hash_ == ChannelHash::bits)
        return static_cast<u32>(block % channels_);
    // Each run of `channels_` consecutive blocks uses every channel once. The first channel is the
    // run's number times the golden ratio: strides of every size spread evenly.
    u64 run = block / channels_;
    u64 first = ((run * 0x9e3779b97f4a7c15) >> 32) * channels_ >> 32;
    return static_cast<u32>((block + first) % channels_);
}

} // namespace nw::sim::timing

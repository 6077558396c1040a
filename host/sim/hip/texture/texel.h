// SPDX-License-Identifier: MIT
// Elements of arrays and textures: their channel description as HIP and as the hardware have it.
#pragma once
#include "base/targets.h"
#include "base/types.h"
#include "sim/hip/headers.h"

namespace nw::hipsim {

struct Texel {
    unsigned channels = 0; // 1, 2 or 4
    unsigned bits = 0;     // of each: 8, 16 or 32
    hipChannelFormatKind kind = hipChannelFormatKindNone;

    unsigned bytes() const { return channels * bits / 8; }
    bool is_integer() const { return kind != hipChannelFormatKindFloat; }
    hipChannelFormatDesc description() const;
    hipArray_Format driver_format() const;
    // The code in descriptors; integers as fractions if `normalized`.
    u8 format(bool normalized, Generation) const;
    // Values after a descriptor, for kernels: HSA's numbers of channel type and order.
    u32 channel_type(bool normalized) const;
    u32 channel_order() const;
};

// Fail with hipErrorInvalidValue for elements that no image has.
Texel texel_of(const hipChannelFormatDesc &);
Texel texel_of(hipArray_Format, unsigned channels);

} // namespace nw::hipsim

// SPDX-License-Identifier: MIT
// hipMemset of all shapes.
#pragma once
#include "base/types.h"
#include "sim/hip/headers.h"

namespace nw::hipsim {

// `depth` slices of `height` rows of `width` elements.
struct Fill {
    u64 at = 0;
    u64 pitch = 0, slice = 0; // bytes
    u32 value = 0;
    u32 element = 1; // bytes: 1, 2 or 4
    u64 width = 0, height = 1, depth = 1;
    bool planned = false; // of a graph, not there yet: it must be when the fill runs

    bool empty() const { return width == 0 || height == 0 || depth == 0; }
    hipError_t run() const noexcept;
};

Fill linear_fill(void *to, u32 element, u32 value, u64 count);
Fill rows_fill(void *to, u64 pitch, u32 element, u32 value, u64 width, u64 height);
Fill box_fill(const hipPitchedPtr &to, u32 value, const hipExtent &extent);
Fill checked_fill(Fill fill); // fails with hipErrorInvalidValue

class Stream;
// Runs it in order with the stream and returns when it is done.
hipError_t fill_now(Stream &stream, const Fill &fill);

} // namespace nw::hipsim

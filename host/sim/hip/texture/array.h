// SPDX-License-Identifier: MIT
// hipArray_t: linear rows, each a multiple of 256 bytes, slices one after the other.
#pragma once
#include "sim/hip/copy/copy.h"
#include "sim/hip/memory/blocks.h"
#include "sim/hip/texture/texel.h"

namespace nw::hipsim {

struct Array {
    u64 at = 0;
    int device = 0;
    Texel texel;
    u64 width = 0, height = 0, depth = 0; // as asked for: 0 for a dimension that it hasn't
    unsigned flags = 0;

    bool layered() const { return flags & hipArrayLayered; }
    u64 rows() const { return height ? height : 1; }
    u64 slices() const { return depth ? depth : 1; }
    u64 row_bytes() const { return width * texel.bytes(); }
    u64 pitch() const;
    u64 slice() const { return pitch() * rows(); }
    u64 bytes() const { return slice() * slices(); }
    // A corner of a copy of such a box, in bytes and rows; hipErrorInvalidValue if it isn't inside.
    Copy::Side corner(u64 x, u64 y, u64 z, u64 bytes, u64 height, u64 depth) const;
};

// A live array by its handle; hipErrorInvalidHandle.
const Array &array_of(const void *handle);

inline constexpr u64 texture_alignment = 256; // of addresses and pitches, in bytes
inline constexpr u64 most_texels = 16384;     // in a dimension
inline constexpr u64 most_slices = 8192;

} // namespace nw::hipsim

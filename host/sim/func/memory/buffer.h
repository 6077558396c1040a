// SPDX-License-Identifier: MIT
// Buffer descriptors (V#): addresses and bounds of what buffer instructions access (5.23 to 5.25).
#pragma once
#include <array>

#include "base/types.h"

namespace nw::sim {

struct Buffer {
    // When an access is out of bounds; `offset` is without soffset.
    enum class Bounds : u8 {
        structured, // index >= records, or offset + bytes > stride
        index,      // index >= records
        none,       // there are no records
        raw         // swizzled: as structured; else offset + bytes > records - soffset
    };
    u64 base = 0; // sign-extended
    u32 stride = 0;
    u32 records = 0;
    u32 element = 0; // bytes that stay together in a swizzled buffer; 0: linear
    u32 index_stride = 8;
    bool adds_lane = false;
    Bounds bounds = Bounds::structured;
    u8 format = 0;
    u8 select[4] = {}; // of x, y, z, w: 0 zero, 1 one, 4 to 7 a component
    u8 swizzle = 0, type = 0;

    bool scratch = false; // the wave's own, as scratch_buffer() describes it

    // `one_bit`: gfx10's swizzle is on or off, and elements have 4 bytes.
    explicit Buffer(const u32 *dwords, bool one_bit = false);
    // Why the descriptor can't be used; null if it can.
    const char *refusal() const;
};

// A linear buffer of `records` elements, bounds by index: what linear textures are.
void encode_buffer(u64 base, u32 stride, u32 records, u8 format, u32 components, u32 *dwords);

// One lane's access. `offset` is a 32-bit sum.
struct BufferPoint {
    u32 index = 0, offset = 0, soffset = 0;
};

// gfx10's descriptor of a wave's scratch: lanes' dwords side by side, at an address that no
// memory has.
using ScratchBuffer = std::array<u32, 4>;
ScratchBuffer scratch_buffer(u32 wave_size);
// Offset in a lane's scratch.
i64 scratch_offset(const Buffer &, BufferPoint);

bool in_bounds(const Buffer &, BufferPoint, u32 bytes);
// Address of byte `at` of the access.
u64 buffer_address(const Buffer &, BufferPoint, u32 at);

} // namespace nw::sim

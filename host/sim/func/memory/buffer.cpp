// SPDX-License-Identifier: MIT
#include "sim/func/memory/buffer.h"

namespace nw::sim {

namespace {

constexpr u32 field(u32 dword, unsigned shift, unsigned bits) {
    return dword >> shift & ((1u << bits) - 1);
}

constexpr u32 scratch_base_high = 0x8000; // of 16 bits: the kernel's half of the address space

} // namespace

Buffer::Buffer(const u32 *d, bool one_bit) {
    u64 address = d[0] | u64{d[1] & 0xffff} << 32;
    base = static_cast<u64>(static_cast<i64>(address << 16) >> 16);
    stride = field(d[1], 16, 14);
    swizzle = static_cast<u8>(one_bit ? d[1] >> 31 : field(d[1], 30, 2));
    scratch = one_bit && d[0] == 0 && (d[1] & 0xffff) == scratch_base_high;
    element = swizzle ? 2u << swizzle : 0;
    records = d[2];
    for (unsigned c = 0; c < 4; ++c)
        select[c] = static_cast<u8>(field(d[3], 3 * c, 3));
    format = static_cast<u8>(field(d[3], 12, 7));
    index_stride = 8u << field(d[3], 21, 2);
    adds_lane = field(d[3], 23, 1);
    bounds = static_cast<Bounds>(field(d[3], 28, 2));
    type = static_cast<u8>(field(d[3], 30, 2));
}

void encode_buffer(u64 base, u32 stride, u32 records, u8 format, u32 components, u32 *d) {
    constexpr u32 select_zero = 0, select_one = 1, select_first = 4;
    d[0] = static_cast<u32>(base);
    d[1] = (static_cast<u32>(base >> 32) & 0xffff) | stride << 16;
    d[2] = records;
    d[3] = u32{format} << 12 | static_cast<u32>(Buffer::Bounds::index) << 28;
    for (u32 c = 0; c < 4; ++c) // absent colours are 0, an absent alpha is 1
        d[3] |= (c < components ? select_first + c : c == 3 ? select_one : select_zero) << 3 * c;
}

const char *Buffer::refusal() const {
    if (type != 0)
        return "its type is not a buffer's";
    if (swizzle == 2)
        return "its swizzle mode 2 is reserved";
    return nullptr;
}

ScratchBuffer scratch_buffer(u32 wave_size) {
    constexpr u32 swizzled = 1u << 31, real32 = 22 << 12, adds_lane = 1 << 23, always = 2u << 28;
    const u32 lanes = (wave_size == 64 ? 3u : 2u) << 21;
    return {0, scratch_base_high | swizzled, ~0u, real32 | lanes | adds_lane | always};
}

// The SGPR's offset counts bytes of the wave.
i64 scratch_offset(const Buffer &b, BufferPoint p) {
    return i64{static_cast<i32>(p.soffset)} / b.index_stride + static_cast<i32>(p.offset);
}

bool in_bounds(const Buffer &b, BufferPoint p, u32 bytes) {
    u64 end = u64{p.offset} + bytes;
    switch (b.bounds) {
    case Buffer::Bounds::index:
        return p.index < b.records;
    case Buffer::Bounds::none:
        return b.records != 0;
    case Buffer::Bounds::raw:
        if (b.element == 0 || b.stride == 0)
            return end + p.soffset <= b.records;
        break;
    case Buffer::Bounds::structured:
        break;
    }
    return p.index < b.records && end <= b.stride;
}

u64 buffer_address(const Buffer &b, BufferPoint p, u32 at) {
    u64 start = b.base + p.soffset, offset = u64{p.offset} + at;
    if (b.element == 0)
        return start + offset + u64{b.stride} * p.index;
    u64 element = b.element, group = p.index / b.index_stride, place = p.index % b.index_stride;
    return start + (group * b.stride + offset / element * element) * b.index_stride +
           place * element + offset % element;
}

} // namespace nw::sim

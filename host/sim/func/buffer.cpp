// SPDX-License-Identifier: MIT
#include "sim/func/buffer.h"

namespace nw::sim {

namespace {

constexpr u32 field(u32 dword, unsigned shift, unsigned bits) {
    return dword >> shift & ((1u << bits) - 1);
}

} // namespace

Buffer::Buffer(const u32 *d) {
    u64 address = d[0] | u64{d[1] & 0xffff} << 32;
    base = static_cast<u64>(static_cast<i64>(address << 16) >> 16);
    stride = field(d[1], 16, 14);
    swizzle = static_cast<u8>(field(d[1], 30, 2));
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

const char *Buffer::refusal() const {
    if (type != 0)
        return "its type is not a buffer's";
    if (swizzle == 2)
        return "its swizzle mode 2 is reserved";
    return nullptr;
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

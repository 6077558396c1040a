// SPDX-License-Identifier: MIT
// The formats of typed buffer elements, and conversion between memory and registers.
#pragma once
#include <string_view>

#include "base/targets.h"

namespace nw::sim {

enum class NumberFormat : u8 { unorm, snorm, uscaled, sscaled, uint, sint, real };

struct BufferFormat {
    std::string_view name; // "8_8_8_8_UNORM"
    NumberFormat number = NumberFormat::uint;
    u8 bits[4] = {}; // of x, y, z, w, from the element's lowest bit up; 0: absent

    unsigned components() const;
    unsigned bytes() const;
    bool is_integer() const { return number == NumberFormat::uint || number == NumberFormat::sint; }
    u32 one() const; // as a 32-bit register holds it
    u32 one16() const;
};

// Null for code 0, which is INVALID, and for reserved codes.
const BufferFormat *find_buffer_format(unsigned code, Generation);

// An element as `bytes()` bytes of little-endian memory.
struct BufferElement {
    u32 dword[4] = {};
    u32 component(const BufferFormat &, unsigned c) const; // its bits, not extended
    void set_component(const BufferFormat &, unsigned c, u32 bits);
};

// A component's bits in memory as a register's value and back: f32, u32 or i32, by the format; with
// the suffix 16 f16, u16 or i16. The host rounds to nearest here.
u32 load_component(const BufferFormat &, unsigned c, u32 bits);
u32 load_component16(const BufferFormat &, unsigned c, u32 bits);
u32 store_component(const BufferFormat &, unsigned c, u32 value);
u32 store_component16(const BufferFormat &, unsigned c, u32 value);

} // namespace nw::sim

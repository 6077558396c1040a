// SPDX-License-Identifier: MIT
// Integer operations of one lane. Compiled per host level, as fp.h.
#pragma once
#include "base/types.h"

#ifndef NW_LEVEL
#define NW_LEVEL base
#endif

namespace nw::sim::NW_LEVEL::bit {

template <class T> T min(T a, T b) { return a < b ? a : b; }
template <class T> T max(T a, T b) { return a > b ? a : b; }
template <class T> T med(T a, T b, T c) { return max(min(a, b), min(max(a, b), c)); }
template <class T> T clamp(T x, T low, T high) { return min(max(x, low), high); }
inline u32 pack(i32 low, i32 high) {
    return (static_cast<u32>(low) & 0xffff) | static_cast<u32>(high) << 16;
}

inline u32 count(u32 x) {
    x = x - (x >> 1 & 0x55555555);
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8; // a product with 0x01010101 is popcount to GCC, of one lane at a time
    return (x + (x >> 16)) & 0x3f;
}
inline u32 reverse(u32 x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
// 2.65: -1 when no bit is set; cls counts the bits after the sign that equal it, and itself.
inline u32 ctz(u32 x) { return x ? static_cast<u32>(__builtin_ctz(x)) : ~0u; }
inline u32 clz(u32 x) { return x ? static_cast<u32>(__builtin_clz(x)) : ~0u; }
inline u32 cls(u32 x) { return clz(x ^ static_cast<u32>(static_cast<i32>(x) >> 31)); }
inline u32 cls64(u64 x) {
    u64 y = x ^ static_cast<u64>(static_cast<i64>(x) >> 63);
    return y ? static_cast<u32>(__builtin_clzll(y)) : ~0u;
}

inline i32 add(i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b)); }
inline i32 sub(i32 a, i32 b) { return static_cast<i32>(static_cast<u32>(a) - static_cast<u32>(b)); }
inline i32 abs(i32 a) { return a < 0 ? sub(0, a) : a; }
inline i32 low24(i32 x) { return static_cast<i32>(static_cast<u32>(x) << 8) >> 8; }
inline u32 distance(u32 a, u32 b) { return a > b ? a - b : b - a; }

// v_bfe_i32: width 0 gives 0; 32 can't be encoded. Bits past 31 are copies of the sign.
inline u32 extract_signed(u32 x, u32 offset, u32 width) {
    u32 field = static_cast<u32>(static_cast<i32>(x) >> offset) & ((1u << width) - 1);
    u32 sign = width ? 1u << (width - 1) : 0;
    return (field ^ sign) - sign;
}
// s_bfe: a width of 32 (64) or more takes all remaining bits.
template <class T> T field(T x, u32 offset, u32 width) {
    T shifted = x >> offset;
    return width >= sizeof(T) * 8 ? shifted : shifted & ((T{1} << width) - 1);
}
inline i32 signed_field(u32 x, u32 offset, u32 width) {
    if (width == 0)
        return 0;
    if (offset + width >= 32)
        return static_cast<i32>(x) >> offset;
    return static_cast<i32>(x << (32 - offset - width)) >> (32 - width);
}
inline i64 signed_field(u64 x, u32 offset, u32 width) {
    if (width == 0)
        return 0;
    if (offset + width >= 64)
        return static_cast<i64>(x) >> offset;
    return static_cast<i64>(x << (64 - offset - width)) >> (64 - width);
}

// 2.61: bytes of {a, b}, b the low ones, by selector byte.
inline u32 permute(u32 a, u32 b, u32 selector) {
    u32 r = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < 4; ++i) {
        u32 s = selector >> 8 * i & 255;
        u32 byte = (s & 4 ? a : b) >> 8 * (s & 3) & 255;
        u32 word = s & 2 ? a : b; // 8, 9: signs in b; 10, 11: in a
        u32 sign = (s & 1 ? word >> 31 : word >> 15 & 1) * 255;
        u32 other = s == 12 ? 0 : s < 12 ? sign : 255;
        r |= (s < 8 ? byte : other) << 8 * i;
    }
    return r;
}
inline u32 lerp(u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (unsigned i = 0; i < 32; i += 8)
        r |= (((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1 & 255) << i;
    return r;
}
inline u32 sad8(u32 a, u32 b) {
    u32 r = 0;
    for (unsigned i = 0; i < 32; i += 8)
        r += distance(a >> i & 255, b >> i & 255);
    return r;
}
inline u32 sad16(u32 a, u32 b) {
    return distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16);
}
inline u32 msad8(u32 a, u32 b) { // bytes where b is 0 are skipped
    u32 r = 0;
    for (unsigned i = 0; i < 32; i += 8)
        r += b >> i & 255 ? distance(a >> i & 255, b >> i & 255) : 0;
    return r;
}
inline u32 dot4_u8(u32 a, u32 b) {
    u32 r = 0;
    for (unsigned i = 0; i < 32; i += 8)
        r += (a >> i & 255) * (b >> i & 255);
    return r;
}
inline i32 dot4_i8(u32 a, u32 b, i32 c) {
    u32 r = static_cast<u32>(c);
    for (unsigned i = 0; i < 32; i += 8)
        r += static_cast<u32>(static_cast<i8>(a >> i) * static_cast<i8>(b >> i));
    return static_cast<i32>(r);
}
inline i32 dot8_i4(u32 a, u32 b, i32 c) {
    u32 r = static_cast<u32>(c);
    for (unsigned i = 0; i < 32; i += 4)
        r += static_cast<u32>((static_cast<i32>(a >> i << 28) >> 28) *
                              (static_cast<i32>(b >> i << 28) >> 28));
    return static_cast<i32>(r);
}
inline i64 dot2_i16_wide(u32 a, u32 b, i32 c) {
    const auto half = [](u32 x, unsigned at) { return i64{static_cast<i16>(x >> at)}; };
    return half(a, 0) * half(b, 0) + half(a, 16) * half(b, 16) + c;
}
inline i32 dot2_i16(u32 a, u32 b, i32 c) {
    return static_cast<i32>(static_cast<u32>(dot2_i16_wide(a, b, c)));
}
inline u64 dot2_u16_wide(u32 a, u32 b) {
    return u64{a & 0xffff} * (b & 0xffff) + u64{a >> 16} * (b >> 16);
}
inline u32 dot2_u16(u32 a, u32 b) { return static_cast<u32>(dot2_u16_wide(a, b)); }
inline u32 dot8_u4(u32 a, u32 b) {
    u32 r = 0;
    for (unsigned i = 0; i < 32; i += 4)
        r += (a >> i & 15) * (b >> i & 15);
    return r;
}

inline u32 insert_byte(u32 x, u32 at, i32 byte) {
    return (x & ~(255u << 8 * at)) | static_cast<u32>(byte) << 8 * at;
}
inline u32 saturate_u8(u32 x) { // of a signed half
    return static_cast<u32>(clamp(static_cast<i32>(static_cast<i16>(x)), 0, 255));
}

inline u64 replicate(u32 x) {
    u64 r = 0;
    for (unsigned i = 0; i < 32; ++i)
        r |= u64{x >> i & 1} * 3 << 2 * i;
    return r;
}
template <class T> T whole_quads(T x) {
    T any = (x | x >> 1 | x >> 2 | x >> 3) & static_cast<T>(u64{0x1111111111111111});
    return any * 15;
}
template <class T> T quad_mask(T x) {
    T r = 0;
    for (unsigned i = 0; i < sizeof(T) * 2; ++i)
        r |= T{(x >> 4 * i & 15) != 0} << i;
    return r;
}

} // namespace nw::sim::NW_LEVEL::bit

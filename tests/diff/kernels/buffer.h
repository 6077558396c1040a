// SPDX-License-Identifier: MIT
// clang-format off
// Buffers, raw and structured. On the host, the documented meaning of the descriptor.
#pragma once
#include "prelude.h"

// `oob`: which accesses are out of range; `swizzle`: 0 none, 1 elements of 4 bytes, 3 of 16, which gfx10 has not.
typedef struct {
    global uchar *base;
    uint stride, records, oob, swizzle, index_stride; // 0 to 3: 8, 16, 32, 64 indices
} Buffer;
INLINE Buffer raw_buffer(global const void *base, uint bytes) {
    return (Buffer){(global uchar *)base, 0, bytes, 3, 0, 0};
}
INLINE Buffer struct_buffer(global const void *base, uint stride, uint records, uint oob) {
    return (Buffer){(global uchar *)base, stride, records, oob, 0, 0};
}

#if DEVICE
#define SOME_FORMAT 0x4000 // none would be an unbound buffer
#ifdef __GFX10__
#define SWIZZLE_BITS(b) ((uint)(b.swizzle != 0) << 31)
#else
#define SWIZZLE_BITS(b) (b.swizzle << 30)
#endif
INLINE int4 descriptor(Buffer b) {
    const ulong base = (ulong)b.base;
    return (int4)((int)(uint)base, (int)((uint)(base >> 32) | b.stride << 16 | SWIZZLE_BITS(b)), (int)b.records,
                  (int)(b.oob << 28 | b.index_stride << 21 | SOME_FORMAT));
}

// clang has builtins for raw buffers of pointers; these are the intrinsics behind them.
#define RAW(type, suffix)                                                                          \
    type raw_load_##suffix(int4, uint offset, uint scalar, int) __asm("llvm.amdgcn.raw.buffer.load." #suffix); \
    void raw_store_##suffix(type, int4, uint offset, uint scalar, int) __asm("llvm.amdgcn.raw.buffer.store." #suffix); \
    type struct_load_##suffix(int4, uint index, uint offset, uint scalar, int)                     \
        __asm("llvm.amdgcn.struct.buffer.load." #suffix);                                          \
    void struct_store_##suffix(type, int4, uint index, uint offset, uint scalar, int)              \
        __asm("llvm.amdgcn.struct.buffer.store." #suffix);
RAW(uchar, i8) RAW(ushort, i16) RAW(uint, i32) RAW(uint2, v2i32) RAW(uint3, v3i32) RAW(uint4, v4i32)
#define ATOMIC(type, name, suffix)                                                                 \
    type raw_##name(type, int4, uint offset, uint scalar, int) __asm("llvm.amdgcn.raw.buffer.atomic." #name "." #suffix); \
    type struct_##name(type, int4, uint index, uint offset, uint scalar, int)                      \
        __asm("llvm.amdgcn.struct.buffer.atomic." #name "." #suffix);
ATOMIC(uint, add, i32) ATOMIC(uint, sub, i32) ATOMIC(uint, smin, i32) ATOMIC(uint, umax, i32)
ATOMIC(uint, and, i32) ATOMIC(uint, or, i32) ATOMIC(uint, xor, i32) ATOMIC(uint, swap, i32)
ATOMIC(uint, inc, i32) ATOMIC(uint, dec, i32) ATOMIC(float, fadd, f32)
uint raw_cmpswap(uint, uint, int4, uint offset, uint scalar, int) __asm("llvm.amdgcn.raw.buffer.atomic.cmpswap.i32");
ulong raw_add64(ulong, int4, uint offset, uint scalar, int) __asm("llvm.amdgcn.raw.buffer.atomic.add.i64");

#define LOAD(suffix, b, offset, scalar) raw_load_##suffix(descriptor(b), offset, scalar, 0)
#define STORE(suffix, value, b, offset, scalar) raw_store_##suffix(value, descriptor(b), offset, scalar, 0)
#define LOAD_AT(suffix, b, index, offset, scalar) struct_load_##suffix(descriptor(b), index, offset, scalar, 0)
#define STORE_AT(suffix, value, b, index, offset, scalar)                                          \
    struct_store_##suffix(value, descriptor(b), index, offset, scalar, 0)
#define UPDATE(name, value, b, offset) raw_##name(value, descriptor(b), offset, 0, 0)
#define UPDATE_AT(name, value, b, index, offset) struct_##name(value, descriptor(b), index, offset, 0, 0)
#define COMPARE_SWAP(value, expected, b, offset) raw_cmpswap(value, expected, descriptor(b), offset, 0, 0)
#define UPDATE64(value, b, offset) raw_add64(value, descriptor(b), offset, 0, 0)
#else
// The bytes, or none where they are out of range.
INLINE global uchar *in_range(Buffer b, uint index, uint offset, uint scalar, uint bytes) {
    const int inside = offset + bytes <= b.stride, swizzled = b.swizzle && b.stride;
    const uint element = b.swizzle == 1 ? 4 : 16, indices = 8u << b.index_stride;
    ulong at = offset + (ulong)b.stride * index;
    int good = index < b.records && inside;
    if (b.oob == 1)
        good = index < b.records;
    if (b.oob == 2)
        good = b.records != 0;
    if (b.oob == 3 && !swizzled)
        good = b.records >= scalar && (ulong)offset + bytes <= b.records - scalar;
    if (swizzled)
        at = ((ulong)(index / indices) * b.stride + offset / element * element) * indices + index % indices * element +
             offset % element;
    return good ? b.base + scalar + at : 0;
}
INLINE uint get(Buffer b, uint index, uint offset, uint scalar, uint bytes) {
    global const uchar *from = in_range(b, index, offset, scalar, bytes);
    uint value = 0;
    for (uint k = 0; from && k < bytes; ++k)
        value |= (uint)from[k] << 8 * k;
    return value;
}
INLINE void put(Buffer b, uint index, uint offset, uint scalar, uint bytes, uint value) {
    global uchar *to = in_range(b, index, offset, scalar, bytes);
    for (uint k = 0; to && k < bytes; ++k)
        to[k] = (uchar)(value >> 8 * k);
}
#define WORD(k) get(b, index, offset + 4 * k, scalar, 4) // each dword by itself
INLINE uint load_i8(Buffer b, uint index, uint offset, uint scalar) { return get(b, index, offset, scalar, 1); }
INLINE uint load_i16(Buffer b, uint index, uint offset, uint scalar) { return get(b, index, offset, scalar, 2); }
INLINE uint load_i32(Buffer b, uint index, uint offset, uint scalar) { return WORD(0); }
INLINE uint2 load_v2i32(Buffer b, uint index, uint offset, uint scalar) { return (uint2)(WORD(0), WORD(1)); }
INLINE uint3 load_v3i32(Buffer b, uint index, uint offset, uint scalar) { return (uint3)(WORD(0), WORD(1), WORD(2)); }
INLINE uint4 load_v4i32(Buffer b, uint index, uint offset, uint scalar) {
    return (uint4)(WORD(0), WORD(1), WORD(2), WORD(3));
}
#define LOAD(suffix, b, offset, scalar) load_##suffix(b, 0, offset, scalar)
#define LOAD_AT(suffix, b, index, offset, scalar) load_##suffix(b, index, offset, scalar)
#define PUT(k, x) put(b, index, offset + 4 * k, scalar, 4, x)
INLINE void store_i8(uint v, Buffer b, uint index, uint offset, uint scalar) { put(b, index, offset, scalar, 1, v); }
INLINE void store_i16(uint v, Buffer b, uint index, uint offset, uint scalar) { put(b, index, offset, scalar, 2, v); }
INLINE void store_i32(uint v, Buffer b, uint index, uint offset, uint scalar) { PUT(0, v); }
INLINE void store_v2i32(uint2 v, Buffer b, uint index, uint offset, uint scalar) { PUT(0, v.x), PUT(1, v.y); }
INLINE void store_v3i32(uint3 v, Buffer b, uint index, uint offset, uint scalar) { PUT(0, v.x), PUT(1, v.y), PUT(2, v.z); }
INLINE void store_v4i32(uint4 v, Buffer b, uint index, uint offset, uint scalar) {
    PUT(0, v.x), PUT(1, v.y), PUT(2, v.z), PUT(3, v.w);
}
#define STORE(suffix, value, b, offset, scalar) store_##suffix(value, b, 0, offset, scalar)
#define STORE_AT(suffix, value, b, index, offset, scalar) store_##suffix(value, b, index, offset, scalar)

INLINE float add_floats(float x, float y) { return x + y; }
#define EXPRESSION(name, x)                                                                        \
    INLINE uint after_##name(uint old, uint v) { return x; }
EXPRESSION(add, old + v) EXPRESSION(sub, old - v) EXPRESSION(smin, (int)v < (int)old ? v : old)
EXPRESSION(umax, v > old ? v : old) EXPRESSION(and, old & v) EXPRESSION(or, old | v) EXPRESSION(xor, old ^ v)
EXPRESSION(swap, v) EXPRESSION(inc, old >= v ? 0 : old + 1) EXPRESSION(dec, old == 0 || old > v ? v : old - 1)
EXPRESSION(fadd, as(uint, add_floats(as(float, old), as(float, v))))
#define UPDATE_AT(name, value, b, index, offset) update_##name(as(uint, value), b, index, offset)
#define UPDATE(name, value, b, offset) UPDATE_AT(name, value, b, 0, offset)
#define UPDATER(name, type)                                                                        \
    INLINE type update_##name(uint v, Buffer b, uint index, uint offset) {                         \
        const uint old = get(b, index, offset, 0, 4);                                              \
        put(b, index, offset, 0, 4, after_##name(old, v));                                         \
        return as(type, old);                                                                      \
    }
UPDATER(add, uint) UPDATER(sub, uint) UPDATER(smin, uint) UPDATER(umax, uint) UPDATER(and, uint) UPDATER(or, uint)
UPDATER(xor, uint) UPDATER(swap, uint) UPDATER(inc, uint) UPDATER(dec, uint) UPDATER(fadd, float)
INLINE uint compare_swap(uint value, uint expected, Buffer b, uint offset) {
    const uint old = get(b, 0, offset, 0, 4);
    if (old == expected)
        put(b, 0, offset, 0, 4, value);
    return old;
}
#define COMPARE_SWAP(value, expected, b, offset) compare_swap(value, expected, b, offset)
INLINE ulong add64(ulong value, Buffer b, uint offset) { // out of range as a whole
    if (!in_range(b, 0, offset, 0, 8))
        return 0;
    const ulong old = u64(get(b, 0, offset, 0, 4), get(b, 0, offset + 4, 0, 4));
    put(b, 0, offset, 0, 4, (uint)(old + value)), put(b, 0, offset + 4, 0, 4, (uint)((old + value) >> 32));
    return old;
}
#define UPDATE64(value, b, offset) add64(value, b, offset)
#endif

#define SWIZZLED(name, stride_, element, indices)                                                  \
    out[name * n + i] = LOAD_AT(i32, ((Buffer){(global uchar *)in, stride_, n / 2, 0, element, indices}), i, 4 * (a & 7), 0)

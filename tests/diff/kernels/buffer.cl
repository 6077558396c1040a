// SPDX-License-Identifier: MIT
// Buffer instructions: raw and struct ones, ranges, strides, swizzles, atomics. On the host, what the
// descriptor is said to mean.
#include "prelude.h"

// `oob`: which accesses are out of range; `swizzle`: 0 none, 1 elements of 4 bytes, 3 of 16.
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
INLINE int4 descriptor(Buffer b) {
    const ulong base = (ulong)b.base;
    return (int4)((int)(uint)base, (int)((uint)(base >> 32) | b.stride << 16 | b.swizzle << 30), (int)b.records,
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

KERNEL(buffer_widths, words, 128) {
    ITEM;
    const Buffer buf = raw_buffer(in, 16 * n);
    const uint4 four = LOAD(v4i32, buf, 16 * i, 0);
    const uint3 three = LOAD(v3i32, buf, 12 * i + 4, 0);
    const uint2 two = LOAD(v2i32, buf, 8 * i, 0);
    out[i] = four.x ^ four.y + four.z * 3 ^ four.w;
    out[n + i] = three.x + three.y * 5 ^ three.z;
    out[2 * n + i] = two.x - two.y + LOAD(i32, buf, 4 * (n - 1 - i), 0);
    out[3 * n + i] = LOAD(i8, buf, 3 * i, 0) | (uint)LOAD(i16, buf, 6 * i, 0) << 8;
}

KERNEL(buffer_of_a_pointer, words, 128) { // clang's own builtins
    ITEM;
#if DEVICE
    __amdgpu_buffer_rsrc_t buf = __builtin_amdgcn_make_buffer_rsrc((global void *)in, 0, 10 * n, 0x31004000);
    out[i] = __builtin_amdgcn_raw_buffer_load_b32(buf, 4 * i, 0, 0);
    out[n + i] = __builtin_amdgcn_raw_buffer_load_b8(buf, i, 8 * n, 0);
    out[2 * n + i] = __builtin_amdgcn_raw_buffer_load_b128(buf, 16 * i, 0, 0)[3];
#else
    const Buffer buf = raw_buffer(in, 10 * n);
    out[i] = LOAD(i32, buf, 4 * i, 0);
    out[n + i] = LOAD(i8, buf, i, 8 * n);
    out[2 * n + i] = LOAD(v4i32, buf, 16 * i, 0).w;
#endif
}

KERNEL(buffer_loads_past_its_end, words, 128) { // the end lies within a dword
    ITEM;
    const Buffer buf = raw_buffer(in, 2 * n + 6);
    const uint4 four = LOAD(v4i32, buf, 4 * i, 0);
    out[i] = four.x + four.y * 3 + four.z * 5 + four.w * 7;
    out[n + i] = LOAD(i32, buf, 2 * i, 0);
    out[2 * n + i] = LOAD(i16, buf, 3 * i, 0) + LOAD(i8, buf, 5 * i, 0) * 0x10000u;
    out[3 * n + i] = LOAD(v3i32, buf, a >> 1, 0).z + LOAD(i32, buf, buf.records - 4 + (d & 3), 0); // anywhere
}

KERNEL(buffer_scalar_offsets, words, 128) { // they count against the end
    ITEM;
    const Buffer buf = raw_buffer(in, 8 * n);
    out[i] = LOAD(i32, buf, 4 * i, 2 * n);
    out[n + i] = LOAD(i32, buf, 4 * i + 64, 4 * n);
    out[2 * n + i] = LOAD(i32, buf, 4 * i, 8 * n - 64);
    out[3 * n + i] = LOAD(i32, buf, 4 * i, 8 * n + 4);
}

KERNEL(buffer_without_records, words, 128) {
    ITEM;
    const Buffer none = raw_buffer(in, 0);
    out[i] = LOAD(i32, none, 4 * i, 0) + LOAD(i8, none, 0, 0);
    STORE(i32, a, raw_buffer(out, 0), 4 * i, 0);
    out[n + i] = UPDATE(add, 5u, raw_buffer(out, 0), 4 * i);
}

KERNEL(buffer_stores, words, 128) {
    ITEM;
    const Buffer buf = raw_buffer(out, 16 * n);
    STORE(v2i32, (uint2)(a, buf.stride + c), buf, 8 * i, 0);
    STORE(i8, (uchar)a, buf, 8 * n + 4 * i + 1, 0);
    STORE(i16, (ushort)d, buf, 4 * i + 2, 8 * n);
    STORE(i32, d, buf, 4 * i, 12 * n);
}

KERNEL(buffer_stores_past_its_end, words, 128) {
    ITEM;
    const Buffer buf = raw_buffer(out, 8 * n + 6);
    STORE(v4i32, (uint4)(a, c, d, 4), buf, 16 * i, 0);
    const Buffer later = raw_buffer(out + 3 * n, 2 * n + 2);
    STORE(i32, a, later, 4 * i, 0);
    STORE(i8, (uchar)c, raw_buffer(out + 2 * n + 8, 99), i, 0);
}

KERNEL(buffer_stores_in_a_branch, words, 128) {
    ITEM;
    if (a & 1)
        STORE(v3i32, (uint3)(a, c, d), raw_buffer(out, 10 * n), 12 * i, 0);
    else if (c & 1)
        STORE(i32, LOAD(i32, raw_buffer(in, 4 * n), 4 * i, 0), raw_buffer(out, 12 * n), 12 * i + 4, 0);
}

KERNEL(buffer_atomics, words, 128) { // each work-item its own words
    ITEM;
    const Buffer buf = raw_buffer(out, 16 * n);
    out[i] = a, out[n + i] = c;
    uint seen = UPDATE(add, d, buf, 4 * i);
    seen = seen * 3 + UPDATE(xor, c, buf, 4 * i);
    seen = seen * 3 + UPDATE(smin, d, buf, 4 * i);
    seen = seen * 3 + UPDATE(sub, a, buf, 4 * (n + i));
    seen = seen * 3 + UPDATE(umax, d, buf, 4 * (n + i));
    seen = seen * 3 + UPDATE(or, a & 0xff, buf, 4 * (n + i));
    seen = seen * 3 + UPDATE(and, 0xffff0ff0, buf, 4 * i);
    out[2 * n + i] = seen;
    out[3 * n + i] = UPDATE(swap, seen ^ a, buf, 4 * (n + i));
}

KERNEL(buffer_counting_atomics, words, 128) {
    ITEM;
    const Buffer buf = raw_buffer(out, 16 * n);
    out[i] = a, out[n + i] = c;
    const uint first = UPDATE(inc, c, buf, 4 * i), second = UPDATE(dec, d, buf, 4 * (n + i));
    out[2 * n + i] = first * 7 + second;
    out[3 * n + i] = COMPARE_SWAP(d, c & 1 ? first : first + 1, buf, 4 * i) + COMPARE_SWAP(a, second, buf, 4 * (n + i));
}

KERNEL(buffer_atomics_past_its_end, words, 128) {
    ITEM;
    out[i] = a, out[n + i] = c, out[2 * n + i] = 0;
    const Buffer buf = raw_buffer(out, 2 * n);
    const uint seen = UPDATE(add, d, buf, 4 * i) + UPDATE(swap, 77u, raw_buffer(out + n, 4 * i + (a & 7)), 4 * i);
    out[3 * n + i] = seen;
}

KERNEL(buffer_atomics_of_64_bits, words, 128) { // the end in the middle of one
    ITEM;
    global ulong *pairs = (global ulong *)out;
    pairs[i] = u64(a, c);
    const ulong seen = UPDATE64(u64(d, a), raw_buffer(out, 4 * n + 4), 8 * i);
    PUT64(2, seen);
}

KERNEL(buffer_atomics_of_floats, f32, 128) {
    ITEM;
    // No NaN, no infinity, nothing subnormal: what else memory adds is open.
    const float x = as(float, (a & 0x803fffffu) | 0x3f000000u), y = as(float, (b & 0x803fffffu) | 0x3e800000u);
    out[i] = as(uint, x);
    out[n + i] = as(uint, UPDATE(fadd, y, raw_buffer(out, 4 * n), 4 * i));
}

KERNEL(buffer_shared_atomics, words, 128) { // any order gives the same sum
    ITEM;
    const Buffer shared = raw_buffer(out + 4 * n, 4 * 64);
    UPDATE(add, c, shared, 4 * (a & 31) + (a & 32 ? 4 * 64 : 0)); // half of them beyond the end
    UPDATE(umax, d, shared, 4 * 32 + (b & 31) * 4);
    out[i] = a;
}

KERNEL(buffer_structs, words, 128) {
    ITEM;
    const Buffer buf = struct_buffer(in, 16, n, 1);
    const uint4 four = LOAD_AT(v4i32, buf, i, 0, 0);
    out[i] = four.x ^ four.y * 3 ^ four.z * 5 ^ four.w * 7;
    out[n + i] = LOAD_AT(i32, buf, n - 1 - i, 8, 0);
    out[2 * n + i] = LOAD_AT(i16, buf, i, 6, 0) + LOAD_AT(i32, buf, a, 4, 0); // any index
    out[3 * n + i] = LOAD_AT(i8, buf, i / 2, 13, 0) + LOAD_AT(i32, buf, i / 2, 4, 8 * n);
}

KERNEL(buffer_structs_and_their_ends, words, 128) { // an offset within the stride, or not
    ITEM;
    const Buffer buf = struct_buffer(in, 12, n / 2, 0);
    out[i] = LOAD_AT(i32, buf, i, 4 * (a & 3), 0);
    const uint4 four = LOAD_AT(v4i32, buf, i, 4 * (c & 3), 0);
    out[n + i] = four.x + four.y * 3 + four.z * 5 + four.w * 7;
    out[2 * n + i] = LOAD_AT(i16, buf, i, 11, 0) + LOAD_AT(i8, buf, i, 11, 0);
    const Buffer any = struct_buffer(in, 8, 1, 2);
    out[3 * n + i] = LOAD_AT(i32, any, i, 4, 0) + LOAD_AT(i32, struct_buffer(in, 8, 0, 2), i, 4, 0);
}

KERNEL(buffer_struct_stores, words, 128) {
    ITEM;
    const Buffer buf = struct_buffer(out, 8, n, 0);
    STORE_AT(i32, a, buf, i, 4 * (c & 3), 0);
    const Buffer later = struct_buffer(out + 2 * n, 8, n - 9, 1);
    STORE_AT(i16, (ushort)c, later, i, 2, 0);
    STORE_AT(i8, (uchar)d, later, i, 7, 0);
}

KERNEL(buffer_struct_atomics, words, 128) {
    ITEM;
    out[i] = a, out[n + i] = c;
    const Buffer buf = struct_buffer(out, 4, 2 * n - 20, 1);
    out[2 * n + i] = UPDATE_AT(add, d, buf, i, 0) ^ UPDATE_AT(smin, d, buf, n + i, 0);
}

#define SWIZZLED(name, stride_, element, indices)                                                  \
    out[name * n + i] = LOAD_AT(i32, ((Buffer){(global uchar *)in, stride_, n / 2, 0, element, indices}), i, 4 * (a & 7), 0)
KERNEL(buffer_swizzles, words, 128) {
    ITEM;
    SWIZZLED(0, 16, 1, 0);
    SWIZZLED(1, 32, 1, 2);
    SWIZZLED(2, 32, 3, 1);
    SWIZZLED(3, 16, 3, 3);
}

KERNEL(buffer_swizzled_stores, words, 128) {
    ITEM;
    const Buffer buf = {(global uchar *)out, 16, n - n % 64, 3, 3, 3};
    STORE_AT(v2i32, (uint2)(a, c), buf, i, 8, 0);
    STORE_AT(i32, d, buf, i, 4 * (d & 1), 0);
}

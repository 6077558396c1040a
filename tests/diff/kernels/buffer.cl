// SPDX-License-Identifier: MIT
// Buffer instructions: raw and struct ones, ranges, strides, swizzles, atomics.
#include "buffer.h"

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

KERNEL(buffer_swizzles, words, 128) {
    ITEM;
    SWIZZLED(0, 16, 1, 0);
    SWIZZLED(1, 32, 1, 2);
    SWIZZLED(2, 32, 1, 1);
    SWIZZLED(3, 16, 1, 3);
}

KERNEL(buffer_swizzled_stores, words, 128) {
    ITEM;
    const Buffer buf = {(global uchar *)out, 16, n - n % 64, 3, 1, 3};
    STORE_AT(i32, a, buf, i, 8, 0);
    STORE_AT(i32, d, buf, i, 4 * (d & 1), 0);
}

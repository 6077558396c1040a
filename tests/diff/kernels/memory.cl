// SPDX-License-Identifier: MIT
// Global memory: widths, addresses, generic pointers, constants.
#include "prelude.h"

KERNEL(load_bytes, words, 128) {
    ITEM;
    global const uchar *bytes = (global const uchar *)in;
    global const signed char *signed_bytes = (global const signed char *)in;
    out[i] = bytes[i] | bytes[i + 3] << 8;
    out[n + i] = (uint)signed_bytes[i + 1];
}

KERNEL(load_shorts, words, 128) {
    ITEM;
    global const ushort *shorts = (global const ushort *)in;
    out[i] = shorts[i] + shorts[2 * i + 1] * 3u;
    out[n + i] = (uint)(int)((global const short *)in)[i + 5];
}

KERNEL(store_bytes_and_shorts, words, 128) {
    ITEM;
    global uchar *bytes = (global uchar *)out;
    global ushort *shorts = (global ushort *)(out + n);
    bytes[4 * i + 1] = (uchar)a;
    bytes[4 * i + 3] = (uchar)(b >> 8);
    shorts[2 * i + 1] = (ushort)c;
}

KERNEL(wide_loads, words, 128) {
    ITEM;
    const uint4 x = ((global const uint4 *)in)[i];
    const uint2 y = ((global const uint2 *)in)[i];
    out[i] = x.x ^ x.w + y.y;
    out[n + i] = x.y - x.z * y.x;
}

KERNEL(wide_stores, words, 128) {
    ITEM;
    ((global uint4 *)out)[i] = (uint4)(a, b + 1, c ^ 2, d);
}

KERNEL(three_words, words, 128) {
    ITEM;
    struct Three { uint x, y, z; };
    const struct Three t = ((global const struct Three *)in)[i];
    global struct Three *to = (global struct Three *)out + i;
    to->x = t.z;
    to->y = t.x + 1;
    to->z = t.y;
}

KERNEL(unaligned_words, words, 128) {
    ITEM;
    struct __attribute__((packed)) Odd { uchar pad; uint word; ushort half_word; };
    const global struct Odd *odd = (const global struct Odd *)in + i;
    out[i] = odd->word + odd->half_word;
    out[n + i] = odd->pad;
}

KERNEL(gather, words, 128) {
    ITEM;
    out[i] = in[a % (4 * n)] + in[b % n];
    out[n + i] = in[(i * 7919 + c) % (4 * n)];
}

KERNEL(scatter, words, 128) {
    ITEM;
    out[(i * 17 + 5) % n] = a;              // n is no multiple of 17
    out[n + (n - 1 - i)] = b ^ i;
    if (c & 1)
        out[2 * n + (i ^ 1)] = d;
}

KERNEL(negative_offsets, words, 128) {
    ITEM;
    global const uint *end = in + 4 * n - 1 - i;
    out[i] = end[0] + *(end - (i < 100 ? 0 : 100));
    out[n + i] = *(end - n) ^ *(end - 2 * n);
}

KERNEL(strided_sum, words, 128) {
    ITEM;
    uint sum = 0;
    for (uint k = i; k < 4 * n; k += n / 4)
        sum = sum * 3 + in[k];
    out[i] = sum;
}

constant uint primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
constant uchar nibble_counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

KERNEL(constant_tables, words, 128) {
    ITEM;
    uint count = 0;
    for (uint k = 0; k < 32; k += 4)
        count += nibble_counts[a >> k & 15];
    out[i] = primes[b & 15] * primes[group_id() & 15];
    out[n + i] = count;
}

NOINLINE uint sum_of_three(const uint *p) { return p[0] + p[1] * 3 + p[2] * 5; } // generic: FLAT

KERNEL(generic_pointers, words, 128) {
    ITEM;
    local uint tile[128 + 2];
    uint own[3] = {a, b, c};
    tile[local_id()] = d;
    if (local_id() < 2)
        tile[128 + local_id()] = local_id();
    barrier();
    out[i] = sum_of_three(own);
    out[n + i] = sum_of_three((const uint *)(tile + local_id()));
    out[2 * n + i] = sum_of_three((const uint *)(in + i));
}

NOINLINE void store_through(uint *p, uint value) { *p = value; }

KERNEL(generic_pointer_chosen_per_lane, words, 128) { // private, LDS and global in one instruction
    ITEM;
    local uint tile[128];
    uint own = a;
    tile[local_id()] = b;
    out[2 * n + i] = c;
    uint *p = a % 3 == 0 ? &own : a % 3 == 1 ? (uint *)(tile + local_id()) : (uint *)(out + 2 * n + i);
    store_through(p, d);
    out[i] = own;
    out[n + i] = tile[local_id()];
}

KERNEL(generic_bytes, words, 128) {
    ITEM;
    uchar own[4] = {(uchar)a, (uchar)b, (uchar)c, (uchar)d};
    const uchar *p = a & 1 ? own : (const uchar *)(in + i);
    out[i] = p[b & 3] | (uint)p[3] << 8;
}

KERNEL(volatile_accesses, words, 128) {
    ITEM;
    volatile global uint *cell = out + i;
    *cell = a;
    *cell = *cell + b;
    out[n + i] = *cell * 2;
}

KERNEL(non_temporal, words, 128) {
    ITEM;
    const uint x = __builtin_nontemporal_load(in + (n - 1 - i));
    __builtin_nontemporal_store(x * 3 + a, out + i);
}

KERNEL(memcpy_and_memset, words, 64) {
    ITEM;
    uint words[8];
    __builtin_memcpy(words, in + 4 * (i / 2), 32);
    __builtin_memset(words + 2, 0x5a, 8);
    __builtin_memmove(words + 1, words, 24);
    out[i] = words[a & 7];
    out[n + i] = words[1] ^ words[3] ^ words[7];
}

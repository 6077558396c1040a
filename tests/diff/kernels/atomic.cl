// SPDX-License-Identifier: MIT
// Atomics whose outcome does not depend on the order of work-items.
#include "prelude.h"

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define CELL(k) ((global atomic_uint *)(out + 4 * n + (k)))
#define SIGNED_CELL(k) ((global atomic_int *)(out + 4 * n + (k)))
#define LONG_CELL(k) ((global atomic_ulong *)(out + 4 * n + 2 * (k)))

KERNEL(global_add_sub, words, 128) {
    ITEM;
    atomic(fetch_add, CELL(a & 63), b);
    atomic(fetch_sub, CELL(64 + (a & 31)), c);
}

KERNEL(global_bits, words, 128) {
    ITEM;
    atomic(fetch_or, CELL(i & 63), a & b);
    atomic(fetch_xor, CELL(64 + (i & 63)), c);
    atomic(fetch_and, CELL(128 + (i & 63)), d);
}

KERNEL(global_min_max, words, 128) {
    ITEM;
    atomic(fetch_max, CELL(i & 31), a);
    atomic(fetch_min, SIGNED_CELL(32 + (i & 31)), (int)b);
    atomic(fetch_max, SIGNED_CELL(64 + (i & 31)), (int)c);
    atomic(fetch_min, CELL(96 + (i & 31)), d);
}

KERNEL(global_64, words, 128) {
    ITEM;
    atomic(fetch_add, LONG_CELL(i & 31), u64(a, b));
    atomic(fetch_xor, LONG_CELL(32 + (i & 31)), u64(c, d));
    atomic(fetch_max, LONG_CELL(64 + (i & 31)), u64(a, b));
    atomic(fetch_or, LONG_CELL(96 + (i & 31)), u64(c, a));
}

KERNEL(tickets, words, 128) { // each number is drawn once: their sums say so
    ITEM;
    const uint ticket = atomic(fetch_add, CELL(0), 1u);
    atomic(fetch_add, CELL(1), ticket);
    atomic(fetch_xor, CELL(2), ticket * 0x9e3779b1u);
    atomic(fetch_max, CELL(3), ticket);
}

KERNEL(exchange_chain, words, 128) { // what goes in comes out or stays
    ITEM;
    local atomic_uint cell, balance;
    if (local_id() == 0) {
        __opencl_atomic_store(&cell, 0, 0, 1);
        __opencl_atomic_store(&balance, 0, 0, 1);
    }
    barrier();
    __opencl_atomic_fetch_add(&balance, __opencl_atomic_exchange(&cell, a, 0, 1) - a, 0, 1);
    barrier();
    out[i] = __opencl_atomic_load(&balance, 0, 1) + __opencl_atomic_load(&cell, 0, 1);
}

KERNEL(global_exchange, words, 128) { // one work-item per cell
    ITEM;
    if (i < 512) {
        out[i] = atomic(exchange, CELL(i), a);
        out[n + i] = atomic(exchange, CELL(i), b);
        uint expected = c & 1 ? b : c;
        out[2 * n + i] = __opencl_atomic_compare_exchange_strong(CELL(i), &expected, d, 0, 0, 2);
        out[3 * n + i] = expected;
    }
}

KERNEL(compare_exchange_loop, words, 128) {
    ITEM;
    uint expected = __opencl_atomic_load(CELL(a & 7), 0, 2);
    while (!__opencl_atomic_compare_exchange_strong(CELL(a & 7), &expected, expected * 1 + (b | 1), 0, 0, 2)) {
    }
    out[i] = 5;
}

KERNEL(histogram_in_lds, words, 256) {
    ITEM;
    local atomic_uint bins[64];
    if (local_id() < 64)
        __opencl_atomic_store(&bins[local_id()], 0, 0, 1);
    barrier();
    __opencl_atomic_fetch_add(&bins[a & 63], 1u, 0, 1);
    __opencl_atomic_fetch_add(&bins[b >> 26], c, 0, 1);
    barrier();
    if (local_id() < 64) {
        out[i] = __opencl_atomic_load(&bins[local_id()], 0, 1);
        atomic(fetch_add, CELL(local_id()), __opencl_atomic_load(&bins[local_id()], 0, 1));
    }
}

KERNEL(lds_min_max_bits, words, 128) {
    ITEM;
    local atomic_uint cells[4];
    local atomic_int signed_cells[2];
    if (local_id() == 0) {
        __opencl_atomic_store(&cells[0], 0, 0, 1);
        __opencl_atomic_store(&cells[1], ~0u, 0, 1);
        __opencl_atomic_store(&cells[2], 0, 0, 1);
        __opencl_atomic_store(&cells[3], 0, 0, 1);
        __opencl_atomic_store(&signed_cells[0], 0, 0, 1);
        __opencl_atomic_store(&signed_cells[1], 0, 0, 1);
    }
    barrier();
    __opencl_atomic_fetch_max(&cells[0], a, 0, 1);
    __opencl_atomic_fetch_min(&cells[1], b, 0, 1);
    __opencl_atomic_fetch_or(&cells[2], c & d, 0, 1);
    __opencl_atomic_fetch_xor(&cells[3], d, 0, 1);
    __opencl_atomic_fetch_max(&signed_cells[0], (int)a, 0, 1);
    __opencl_atomic_fetch_min(&signed_cells[1], (int)b, 0, 1);
    barrier();
    out[i] = __opencl_atomic_load(&cells[local_id() & 3], 0, 1);
    out[n + i] = (uint)__opencl_atomic_load(&signed_cells[local_id() & 1], 0, 1);
}

KERNEL(lds_64, words, 128) {
    ITEM;
    local atomic_ulong sum, largest;
    if (local_id() == 0) {
        __opencl_atomic_store(&sum, 5, 0, 1);
        __opencl_atomic_store(&largest, 0, 0, 1);
    }
    barrier();
    __opencl_atomic_fetch_add(&sum, u64(a, b), 0, 1);
    __opencl_atomic_fetch_max(&largest, u64(c, d), 0, 1);
    barrier();
    PUT64(0, __opencl_atomic_load(&sum, 0, 1));
    PUT64(2, __opencl_atomic_load(&largest, 0, 1));
}

KERNEL(lds_tickets, words, 256) {
    ITEM;
    local atomic_uint next, total;
    if (local_id() == 0) {
        __opencl_atomic_store(&next, 10, 0, 1);
        __opencl_atomic_store(&total, 0, 0, 1);
    }
    barrier();
    if (a & 1)
        __opencl_atomic_fetch_add(&total, __opencl_atomic_fetch_add(&next, 1u, 0, 1), 0, 1);
    barrier();
    out[i] = __opencl_atomic_load(&total, 0, 1);
    out[n + i] = __opencl_atomic_load(&next, 0, 1);
}

KERNEL(lds_compare_exchange, words, 128) {
    ITEM;
    local atomic_uint cell;
    if (local_id() == 0)
        __opencl_atomic_store(&cell, 0, 0, 1);
    barrier();
    uint expected = 0;
    while (!__opencl_atomic_compare_exchange_strong(&cell, &expected, expected + (a & 0xff), 0, 0, 1)) {
    }
    barrier();
    out[i] = __opencl_atomic_load(&cell, 0, 1);
}

KERNEL(add_f32_exactly, words, 128) { // small integers: the same sum in any order
    ITEM;
    __opencl_atomic_fetch_add((global atomic_float *)(out + 4 * n + (a & 15)), (float)(b & 0xff), 0, 2);
    local atomic_float sum;
    if (local_id() == 0)
        __opencl_atomic_store(&sum, 1.0f, 0, 1);
    barrier();
    __opencl_atomic_fetch_add(&sum, (float)(c & 0x3ff) * 0.5f, 0, 1);
    barrier();
    out[i] = word_f32(__opencl_atomic_load(&sum, 0, 1));
}

KERNEL(ordered_message, words, 64) { // release and acquire within the group
    ITEM;
    local uint message;
    local atomic_uint flag;
    if (local_id() == 0) {
        __opencl_atomic_store(&flag, 0, 0, 1);
        message = 0;
    }
    barrier();
    if (local_id() == 0) {
        message = a + 77;
        __opencl_atomic_store(&flag, 1, 3, 1);
    }
    barrier();
    out[i] = __opencl_atomic_load(&flag, 2, 1) ? message : 0;
}

KERNEL(uniform_address, words, 128) { // the compiler sums over the wave first
    ITEM;
    atomic(fetch_add, CELL(0), a);
    atomic(fetch_add, CELL(1), 3u);
    atomic(fetch_or, CELL(2), 1u << (b & 31));
    if (c & 1)
        atomic(fetch_max, CELL(3), d);
}

KERNEL(add_f64_in_lds, words, 128) { // small integers, as above; no target has this atomic in LDS
    ITEM;
    local atomic_double sums[4];
    if (local_id() < 4)
        __opencl_atomic_store(&sums[local_id()], 0.5, 0, 1);
    barrier();
    __opencl_atomic_fetch_add(&sums[a & 3], (double)(b & 0xff), 0, 1);
    barrier();
    PUT64(0, word_f64(__opencl_atomic_load(&sums[local_id() & 3], 0, 1)));
}

KERNEL(small_in_lds, words, 128) { // elements of two bytes, in pairs that share a dword
    ITEM;
    local ushort sums[8];
    if (local_id() < 8)
        sums[local_id()] = (ushort)local_id();
    barrier();
    __scoped_atomic_fetch_add(&sums[a & 7], (ushort)b, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
    barrier();
    out[i] = sums[local_id() & 7];
}

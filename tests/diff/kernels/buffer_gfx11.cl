// SPDX-License-Identifier: MIT
// Buffer instructions that gfx10 has not: sums of floats, swizzles with elements of 16 bytes.
#include "buffer.h"

KERNEL(buffer_atomics_of_floats, f32, 128) {
    ITEM;
    // No NaN, no infinity, nothing subnormal: what else memory adds is open.
    const float x = as(float, (a & 0x803fffffu) | 0x3f000000u), y = as(float, (b & 0x803fffffu) | 0x3e800000u);
    out[i] = as(uint, x);
    out[n + i] = as(uint, UPDATE(fadd, y, raw_buffer(out, 4 * n), 4 * i));
}

KERNEL(buffer_wide_swizzles, words, 128) {
    ITEM;
    SWIZZLED(0, 32, 3, 1);
    SWIZZLED(1, 16, 3, 3);
}

KERNEL(buffer_wide_swizzled_stores, words, 128) {
    ITEM;
    const Buffer buf = {(global uchar *)out, 16, n - n % 64, 3, 3, 3};
    STORE_AT(v2i32, (uint2)(a, c), buf, i, 8, 0);
    STORE_AT(i32, d, buf, i, 4 * (d & 1), 0);
}

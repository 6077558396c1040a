// SPDX-License-Identifier: MIT
// 32-bit integers.
#include "prelude.h"

KERNEL(add_sub_mul, words, 128) {
    ITEM;
    out[i] = a + b * c;
    out[n + i] = a - b - d;
    out[2 * n + i] = (a + b) * (c - d);
    out[3 * n + i] = 7 * a + 0x12345 * b;
}

KERNEL(logic, words, 96) {
    ITEM;
    out[i] = (a & b) | (~a & c);
    out[n + i] = (a ^ b ^ c) & ~d;
    out[2 * n + i] = ~(a | b) ^ (c & 0x00ff00ff);
    out[3 * n + i] = (a & b & c) | (a & d) | (b & d);
}

KERNEL(shift_left_right, words, 128) {
    ITEM;
    out[i] = a << (b & 31);
    out[n + i] = a >> (c & 31);
    out[2 * n + i] = (uint)((int)a >> (d & 31));
    out[3 * n + i] = (a << 5) + (b >> 3) + (uint)((int)c >> 30);
}

KERNEL(shift_masks_its_count, words, 128) { // OpenCL C: the count is taken modulo the width
    ITEM;
    out[i] = a << b;
    out[n + i] = a >> b;
    out[2 * n + i] = (uint)((int)a >> b);
}

KERNEL(rotate, words, 128) {
    ITEM;
    const uint left = b & 31, right = c & 31;
    out[i] = a << left | a >> (-left & 31);
    out[n + i] = a >> right | a << (-right & 31);
    out[2 * n + i] = a << 13 | b >> 19;
    out[3 * n + i] = (uint)(u64(a, b) >> (d & 31));
}

KERNEL(multiply_high, words, 128) {
    ITEM;
    out[i] = (uint)((ulong)a * b >> 32);
    out[n + i] = (uint)((long)(int)a * (int)b >> 32);
    out[2 * n + i] = (uint)((long)(int)c * (long)(ulong)d >> 32);
    out[3 * n + i] = (uint)((ulong)c * d >> 17);
}

KERNEL(multiply_24, words, 128) {
    ITEM;
    const int x = (int)(a << 8) >> 8, y = (int)(b << 8) >> 8;
    out[i] = (a & 0xffffff) * (b & 0xffffff);
    out[n + i] = (uint)(x * y) + c;
    out[2 * n + i] = (uint)((ulong)(a & 0xffffff) * (b & 0xffffff) >> 32);
    out[3 * n + i] = (uint)((long)x * y >> 32);
}

KERNEL(divide_unsigned, words, 128) {
    ITEM;
    const uint by = b ? b : 1;
    out[i] = a / by;
    out[n + i] = a % by;
    out[2 * n + i] = c / 10;
    out[3 * n + i] = d % 1000003;
}

KERNEL(divide_signed, words, 128) {
    ITEM;
    const int x = a == 0x80000000 ? 1 : (int)a, by = b ? (int)b : -3;
    out[i] = (uint)(x / by);
    out[n + i] = (uint)(x % by);
    out[2 * n + i] = (uint)((int)c / -7);
    out[3 * n + i] = (uint)((int)d % 641);
}

KERNEL(min_max_median, words, 128) {
    ITEM;
    const int x = (int)a, y = (int)b, z = (int)c;
    const uint low = elementwise(min)(a, b), high = elementwise(max)(a, b);
    const int slow = elementwise(min)(x, y), shigh = elementwise(max)(x, y);
    out[i] = elementwise(max)(low, elementwise(min)(high, c));
    out[n + i] = (uint)elementwise(max)(slow, elementwise(min)(shigh, z));
    out[2 * n + i] = elementwise(min)(elementwise(min)(a, b), elementwise(max)(c, d));
    out[3 * n + i] = (uint)elementwise(max)(elementwise(max)(x, y), elementwise(min)(z, (int)d));
}

KERNEL(clamp_to_constants, words, 128) {
    ITEM;
    const int x = (int)a;
    out[i] = a < 100 ? 100 : a > 100000 ? 100000 : a;
    out[n + i] = (uint)(x < -5 ? -5 : x > 64 ? 64 : x);
    out[2 * n + i] = (uint)elementwise(abs)((int)b);
    out[3 * n + i] = c > d ? c - d : d - c;
}

KERNEL(saturate, words, 128) {
    ITEM;
    out[i] = elementwise(add_sat)(a, b);
    out[n + i] = elementwise(sub_sat)(a, b);
    out[2 * n + i] = (uint)elementwise(add_sat)((int)c, (int)d);
    out[3 * n + i] = (uint)elementwise(sub_sat)((int)c, (int)d);
}

KERNEL(count_bits, words, 128) {
    ITEM;
    out[i] = elementwise(popcount)(a) + elementwise(popcount)(b);
    out[n + i] = a ? __builtin_clz(a) : 32;
    out[2 * n + i] = a ? __builtin_ctz(a) : 32;
    out[3 * n + i] = elementwise(bitreverse)(a);
}

KERNEL(count_sign_bits, words, 128) {
    ITEM;
    const uint flipped = a ^ (uint)((int)a >> 31);
    out[i] = flipped ? __builtin_clz(flipped) - 1 : 31;
    out[n + i] = elementwise(popcount)(a & -a) + elementwise(popcount)(b & (b - 1));
    out[2 * n + i] = c & (c - 1) ? 0 : 1;
    out[3 * n + i] = d ? 1u << (31 - __builtin_clz(d)) : 0;
}

KERNEL(bytes_of_a_word, words, 128) {
    ITEM;
    out[i] = __builtin_bswap32(a);
    out[n + i] = (a & 0xff) << 24 | (b >> 8 & 0xff) << 16 | (a >> 16 & 0xff) << 8 | b >> 24;
    out[2 * n + i] = (uint)(signed char)(a >> 8) + (uint)(short)b + (c >> 16 & 0xff);
    out[3 * n + i] = (a & 0xffff) | b << 16;
}

KERNEL(bit_fields, words, 128) {
    ITEM;
    const uint at = b & 31, width = c & 31;
    out[i] = a >> at & ((1u << width) - 1);
    out[n + i] = width ? (uint)((int)(a << (32 - width)) >> (32 - width)) : 0;
    out[2 * n + i] = (a >> 7 & 0x3ff) * 3 + (uint)((int)(b << 9) >> 20);
    out[3 * n + i] = (a & ~(0xffu << at)) | (d & 0xff) << at;
}

KERNEL(compare_and_select, words, 128) {
    ITEM;
    const int x = (int)a, y = (int)b;
    out[i] = (a < b) | (a <= b) << 1 | (a > b) << 2 | (a >= b) << 3 | (a == b) << 4 | (a != b) << 5;
    out[n + i] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4;
    out[2 * n + i] = (a < b && x > y) || c == d ? a : b ^ d;
    out[3 * n + i] = (x < 0 ? c : d) + (y > 0 && a & 1 ? 17 : -17);
}

KERNEL(carry_chain, words, 128) {
    ITEM;
    const uint low = a + b, carry = low < a, middle = c + d, carry2 = middle < c;
    const uint with = middle + carry;
    out[i] = low;
    out[n + i] = with;
    out[2 * n + i] = carry2 + (with < middle);
    out[3 * n + i] = a - b - (c < d);
}

KERNEL(uniform_arithmetic, words, 128) { // the same for all lanes, so the scalar unit's
    ITEM;
    const uint x = in[group_id()], y = in[n + group_id()], z = in[2 * n + group_id()];
    out[i] = a ^ (x * y + (z << 3)) ^ elementwise(bitreverse)(y) ^ (uint)((int)x >> 7);
    out[n + i] = (x ? __builtin_ctz(x) : 32) + elementwise(popcount)(y) + (x < y ? z : x) + (y ? __builtin_clz(y) : 32);
    out[2 * n + i] = (uint)((ulong)x * z >> 32) + elementwise(min)((int)x, (int)y) + (uint)elementwise(abs)((int)z);
    out[3 * n + i] = x / (y | 1) + (uint)((int)z % (int)(x >> 1 | 3)) + b;
}

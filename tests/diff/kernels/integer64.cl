// SPDX-License-Identifier: MIT
// 64-bit integers: a word pair, or a few instructions that know 64 bits.
#include "prelude.h"

#define PAIRS                                                                                      \
    ITEM;                                                                                          \
    const ulong x = u64(a, b), y = u64(c, d);                                                      \
    const long sx = (long)x, sy = (long)y

KERNEL(add_sub_64, words, 128) {
    PAIRS;
    PUT64(0, x + y);
    PUT64(2, x - y - 1);
}

KERNEL(multiply_64, words, 128) {
    PAIRS;
    PUT64(0, x * y);
    PUT64(2, x * 0x100000001b3ul + c);
}

KERNEL(multiply_high_64, words, 128) {
    PAIRS;
    const ulong xl = a, xh = b, yl = c, yh = d;
    const ulong middle = xh * yl + (xl * yl >> 32), other = xl * yh + (uint)middle;
    PUT64(0, xh * yh + (middle >> 32) + (other >> 32));
    PUT64(2, (ulong)((long)(int)a * (int)d) + x);
}

KERNEL(shift_64, words, 128) {
    PAIRS;
    PUT64(0, x << (c & 63) ^ x >> (d & 63));
    PUT64(2, (ulong)(sx >> (d & 63)) + (x << 3) + (y >> 41));
}

KERNEL(rotate_64, words, 128) {
    PAIRS;
    const uint by = c & 63;
    PUT64(0, x << by | x >> (-by & 63));
    PUT64(2, y >> 23 | y << 41);
}

KERNEL(compare_64, words, 128) {
    PAIRS;
    out[i] = (x < y) | (x <= y) << 1 | (x == y) << 2 | (sx < sy) << 3 | (sx >= sy) << 4 | (sx > 0) << 5;
    PUT64(1, sx < sy ? x : y);
    out[3 * n + i] = x > 0xfffffffful ? 1 : 0;
}

KERNEL(min_max_64, words, 128) {
    PAIRS;
    PUT64(0, elementwise(min)(x, y) ^ (ulong)elementwise(max)(sx, sy));
    PUT64(2, (ulong)elementwise(abs)(sx) + (x > y ? x - y : y - x));
}

KERNEL(divide_64_unsigned, words, 64) {
    PAIRS;
    const ulong by = y ? y : 3;
    PUT64(0, x / by);
    PUT64(2, x % (d ? d : 9));
}

KERNEL(divide_64_signed, words, 64) {
    PAIRS;
    const long top = x == 1ul << 63 ? 12345 : sx;
    const long by = sy ? sy : -5;
    PUT64(0, (ulong)(top / by));
    PUT64(2, (ulong)(top % by));
}

KERNEL(count_bits_64, words, 128) {
    PAIRS;
    out[i] = elementwise(popcount)(x);
    out[n + i] = (x ? __builtin_clzl(x) : 64) + 256 * (y ? __builtin_ctzl(y) : 64);
    // By halves: clang 22 at -O0 on gfx11 copies half a register for __builtin_bswap64.
    PUT64(2, elementwise(bitreverse)(x) ^ u64(__builtin_bswap32(d), __builtin_bswap32(c)));
}

KERNEL(logic_64, words, 100) {
    PAIRS;
    PUT64(0, (x & y) | (~x & 0x0123456789abcdeful));
    PUT64(2, (x ^ y) & ~(x >> 1));
}

KERNEL(saturate_64, words, 128) {
    PAIRS;
    PUT64(0, elementwise(add_sat)(x, y));
    PUT64(2, (ulong)elementwise(sub_sat)(sx, sy));
}

KERNEL(uniform_arithmetic_64, words, 128) {
    ITEM;
    const ulong x = u64(in[group_id()], in[group_id() + 1]), y = u64(in[n + group_id()], in[2 * n]);
    PUT64(0, x * y + (x << 7) - (y >> 3));
    PUT64(2, (x < y ? x : y) + elementwise(popcount)(x & y) + a + (ulong)((long)x >> 11));
}

// SPDX-License-Identifier: MIT
// 8- and 16-bit integers, packed and alone; integer dot products.
#include "prelude.h"

#define PAIRS                                                                                      \
    ITEM;                                                                                          \
    const short2 p = as(short2, a), q = as(short2, b), r = as(short2, c), s = as(short2, d);       \
    (void)p, (void)q, (void)r, (void)s

KERNEL(packed_add_i16, words, 128) {
    PAIRS;
    out[i] = as(uint, p + q);
    out[n + i] = as(uint, p - q);
    out[2 * n + i] = as(uint, r * s + p);
}

KERNEL(packed_shift_i16, words, 128) {
    PAIRS;
    const short2 by = q & (short)15;
    out[i] = as(uint, p << by);
    out[n + i] = as(uint, p >> by);
    out[2 * n + i] = as(uint, as(ushort2, p) >> as(ushort2, by));
    out[3 * n + i] = as(uint, r << (short)3);
}

KERNEL(packed_min_max_i16, words, 128) {
    PAIRS;
    out[i] = as(uint, elementwise(min)(p, q));
    out[n + i] = as(uint, elementwise(max)(p, q));
    out[2 * n + i] = as(uint, elementwise(min)(as(ushort2, r), as(ushort2, s)));
    out[3 * n + i] = as(uint, elementwise(max)(as(ushort2, r), as(ushort2, s)));
}

KERNEL(packed_saturate_i16, words, 128) {
    PAIRS;
    out[i] = as(uint, elementwise(add_sat)(p, q));
    out[n + i] = as(uint, elementwise(sub_sat)(p, q));
    out[2 * n + i] = as(uint, elementwise(add_sat)(as(ushort2, r), as(ushort2, s)));
    out[3 * n + i] = as(uint, elementwise(sub_sat)(as(ushort2, r), as(ushort2, s)));
}

KERNEL(packed_swizzled_i16, words, 128) {
    PAIRS;
    out[i] = as(uint, p.yx + q);
    out[n + i] = as(uint, p.xx * q.yy);
    out[2 * n + i] = as(uint, (short2)(p.y, r.x) - (short2)(q.x, s.y));
}

KERNEL(alone_i16, words, 128) {
    ITEM;
    const short x = (short)a, y = (short)b;
    const ushort ux = (ushort)a, uy = (ushort)(b >> 16);
    out[i] = (ushort)(short)(x + y) | (uint)(ushort)(short)(x * y) << 16;
    out[n + i] = (ushort)(ux - uy) | (uint)(ushort)(ux >> (uy & 15)) << 16;
    out[2 * n + i] = (uint)(short)(x >> (c & 15)) + (uint)(x < y) + (uint)(ux < uy);
    out[3 * n + i] = (ushort)elementwise(min)(x, y) | (uint)elementwise(max)(ux, uy) << 16;
}

KERNEL(divide_i16, words, 128) {
    ITEM;
    const short x = (short)a, y = (short)b;
    const ushort ux = (ushort)(a >> 16), uy = (ushort)(b >> 16);
    out[i] = (uint)(short)(x / (y ? y : 1));
    out[n + i] = ux / (uy ? uy : 1);
    out[2 * n + i] = ux % (uy ? uy : 1);
    out[3 * n + i] = (uchar)c / ((uchar)d | 1);
}

KERNEL(bytes_i8, words, 128) {
    ITEM;
    const char4 x = as(char4, a), y = as(char4, b);
    const uchar4 ux = as(uchar4, c), uy = as(uchar4, d);
    out[i] = as(uint, x + y);
    out[n + i] = as(uint, x * y);
    out[2 * n + i] = as(uint, elementwise(max)(ux, uy));
    out[3 * n + i] = as(uint, ux - uy.wzyx);
}

KERNEL(saturate_i8, words, 128) {
    ITEM;
    const char4 x = as(char4, a), y = as(char4, b);
    out[i] = as(uint, elementwise(add_sat)(x, y));
    out[n + i] = as(uint, elementwise(sub_sat)(as(uchar4, c), as(uchar4, d)));
}

KERNEL(sums_of_differences, words, 128) {
    ITEM;
    uint sum = 0;
    for (int k = 0; k < 32; k += 8) {
        const int x = (int)(a >> k & 0xff), y = (int)(b >> k & 0xff);
        sum += (uint)(x > y ? x - y : y - x);
    }
    out[i] = sum + c;
}

INLINE int dot4(uint x, uint y, int sum) {
    for (int k = 0; k < 32; k += 8)
        sum += (int)(signed char)(x >> k) * (int)(signed char)(y >> k);
    return sum;
}
INLINE uint dot4_unsigned(uint x, uint y, uint sum) {
    for (int k = 0; k < 32; k += 8)
        sum += (x >> k & 0xff) * (y >> k & 0xff);
    return sum;
}
INLINE uint dot4_mixed(uint x, uint y, uint sum) {
    for (int k = 0; k < 32; k += 8)
        sum += (uint)((int)(x >> k & 0xff) * (int)(signed char)(y >> k));
    return sum;
}
INLINE uint dot8(uint x, uint y, uint sum) {
    for (int k = 0; k < 32; k += 4)
        sum += (uint)(((int)(x << (28 - k)) >> 28) * ((int)(y << (28 - k)) >> 28));
    return sum;
}
INLINE uint dot8_unsigned(uint x, uint y, uint sum) {
    for (int k = 0; k < 32; k += 4)
        sum += (x >> k & 15) * (y >> k & 15);
    return sum;
}

KERNEL(dot_products_by_hand, words, 128) { // patterns that clang may turn into dot instructions
    ITEM;
    out[i] = (uint)dot4(a, b, (int)c);
    out[n + i] = dot4_unsigned(a, b, d);
    out[2 * n + i] = dot8(c, d, a);
    out[3 * n + i] = dot8_unsigned(c, d, b);
}

#if !DEVICE || defined(__gfx1010__)
#define DOT_INSTRUCTIONS 0
#elif defined(__GFX10__) // dots of signed, or of unsigned, bytes
#define DOT_INSTRUCTIONS 1
#define SDOT4(x, y, sum, clamp) (uint)__builtin_amdgcn_sdot4((int)x, (int)y, (int)sum, clamp)
#define SDOT8(x, y, sum) (uint)__builtin_amdgcn_sdot8((int)x, (int)y, (int)sum, 0)
#define MIXED_DOT4(x, y, sum) dot4_mixed(x, y, sum)
#else
#define DOT_INSTRUCTIONS 1
#define SDOT4(x, y, sum, clamp) (uint)__builtin_amdgcn_sudot4(1, (int)x, 1, (int)y, (int)sum, clamp)
#define SDOT8(x, y, sum) (uint)__builtin_amdgcn_sudot8(1, (int)x, 1, (int)y, (int)sum, 0)
#define MIXED_DOT4(x, y, sum) (uint)__builtin_amdgcn_sudot4(0, (int)x, 1, (int)y, (int)sum, 0)
#endif

KERNEL(dot_instructions, words, 128) {
    ITEM;
#if DOT_INSTRUCTIONS
    out[i] = SDOT4(a, b, c, 0);
    out[n + i] = __builtin_amdgcn_udot4(a, b, d, 0);
    out[2 * n + i] = MIXED_DOT4(a, b, c);
#else
    out[i] = (uint)dot4(a, b, (int)c);
    out[n + i] = dot4_unsigned(a, b, d);
    out[2 * n + i] = dot4_mixed(a, b, c);
#endif
}

KERNEL(dot8_instructions, words, 128) {
    ITEM;
#if DOT_INSTRUCTIONS
    out[i] = SDOT8(a, b, c);
    out[n + i] = __builtin_amdgcn_udot8(a, b, d, 0);
#else
    out[i] = dot8(a, b, c);
    out[n + i] = dot8_unsigned(a, b, d);
#endif
}

KERNEL(dot4_that_saturates, words, 128) {
    ITEM;
#if DOT_INSTRUCTIONS
    out[i] = SDOT4(a, b, c, 1);
    out[n + i] = __builtin_amdgcn_udot4(a, b, d, 1);
#else
    const long sum = (long)dot4(a, b, 0) + (int)c;
    out[i] = (uint)(int)(sum > 0x7fffffffl ? 0x7fffffffl : sum < -0x80000000l ? -0x80000000l : sum);
    const ulong total = (ulong)dot4_unsigned(a, b, 0) + d;
    out[n + i] = total > 0xffffffff ? 0xffffffffu : (uint)total;
#endif
}

KERNEL(permute_bytes, words, 128) {
    ITEM;
#if DEVICE
    out[i] = __builtin_amdgcn_perm(a, b, c & 0x07070707);
    out[n + i] = __builtin_amdgcn_perm(a, b, 0x0c0d0403);
    out[2 * n + i] = __builtin_amdgcn_alignbyte(a, b, c);
    out[3 * n + i] = __builtin_amdgcn_alignbit(a, b, d);
#else
    const ulong both = u64(b, a);
    uint chosen = 0;
    for (int k = 0; k < 32; k += 8)
        chosen |= (uint)(both >> 8 * (c >> k & 7) & 0xff) << k;
    out[i] = chosen;
    out[n + i] = 0x00ff0000 | (a & 0xff) << 8 | b >> 24;
    out[2 * n + i] = (uint)(both >> 8 * (c & 3));
    out[3 * n + i] = (uint)(both >> (d & 31));
#endif
}

KERNEL(sad_and_lerp, words, 128) {
    ITEM;
#if DEVICE
    out[i] = __builtin_amdgcn_sad_u8(a, b, c);
    out[n + i] = __builtin_amdgcn_sad_u16(a, b, c);
    out[2 * n + i] = __builtin_amdgcn_lerp(a, b, d);
    out[3 * n + i] = __builtin_amdgcn_sad_hi_u8(a, b, c);
#else
    uint bytes = 0, halves = 0, mean = 0;
    for (int k = 0; k < 32; k += 8) {
        const uint x = a >> k & 0xff, y = b >> k & 0xff;
        bytes += x > y ? x - y : y - x;
        mean |= (x + y + (d >> k & 1)) >> 1 << k;
    }
    for (int k = 0; k < 32; k += 16) {
        const uint x = a >> k & 0xffff, y = b >> k & 0xffff;
        halves += x > y ? x - y : y - x;
    }
    out[i] = bytes + c;
    out[n + i] = halves + c;
    out[2 * n + i] = mean;
    out[3 * n + i] = (bytes << 16) + c;
#endif
}

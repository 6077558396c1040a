// SPDX-License-Identifier: MIT
// Half precision, one at a time and in pairs: each operation rounds to half.
#include "prelude.h"

#define HALVES                                                                                     \
    ITEM;                                                                                          \
    const half x = f16(a), y = f16(b), z = f16(c), w = f16(d);                                     \
    (void)x, (void)y, (void)z, (void)w
#define PAIRS                                                                                      \
    ITEM;                                                                                          \
    const half2 p = f16x2(a), q = f16x2(b), r = f16x2(c), s = f16x2(d);                            \
    (void)p, (void)q, (void)r, (void)s

KERNEL(add_mul_f16, f16, 128) {
    HALVES;
    out[i] = word_f16(x + y);
    out[n + i] = word_f16(x * y);
    out[2 * n + i] = word_f16(x - z * w);
    out[3 * n + i] = word_f16((x + y) * (half)3.0f - w);
}

KERNEL(fma_f16, f16, 128) {
    HALVES;
    out[i] = word_f16(fma16(x, y, z));
    out[n + i] = word_f16(fma16(-x, w, y));
    out[2 * n + i] = word_f16(fma16(x, y, -(x * y)));
}

KERNEL(divide_f16, f16, 128) {
    HALVES;
    out[i] = word_f16(x / y);
    out[n + i] = word_f16(z / w);
    out[2 * n + i] = word_f16((half)1.0f / x);
}

KERNEL(sqrt_f16, f16, 128) {
    HALVES;
    out[i] = word_f16(elementwise(sqrt)(x));
    out[n + i] = word_f16(elementwise(sqrt)(elementwise(abs)(y)));
}

KERNEL(compare_f16, f16, 128) {
    HALVES;
    out[i] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
    out[n + i] = !(x < y) | !(x >= y) << 1 | (x != x || y != y) << 2;
    out[2 * n + i] = word_f16(x < y ? z : -w);
    out[3 * n + i] = word_f16(z > (half)0.5f ? elementwise(abs)(x) : y);
}

KERNEL(minimum_maximum_f16, f16, 128) {
    HALVES;
    out[i] = word_f16(elementwise(minimum)(x, y));
    out[n + i] = word_f16(elementwise(maximum)(x, y));
    out[2 * n + i] = word_f16(elementwise(maximum)(elementwise(minimum)(x, z), w));
}

KERNEL(round_f16, f16, 128) {
    HALVES;
    out[i] = word_f16(elementwise(floor)(x));
    out[n + i] = word_f16(elementwise(ceil)(x));
    out[2 * n + i] = word_f16(elementwise(trunc)(x));
    out[3 * n + i] = word_f16(elementwise(roundeven)(x));
}

KERNEL(packed_add_mul_f16, f16, 128) {
    PAIRS;
    out[i] = word_f16x2(p + q);
    out[n + i] = word_f16x2(p * q);
    out[2 * n + i] = word_f16x2(r - s);
    out[3 * n + i] = word_f16x2(-p * r + (half2)(1.0f, -2.0f));
}

KERNEL(packed_swizzled_f16, f16, 128) { // halves that meet crosswise: op_sel
    PAIRS;
    out[i] = word_f16x2(p + q.yx);
    out[n + i] = word_f16x2(p.xx * q.yy);
    out[2 * n + i] = word_f16x2((half2)(p.y, q.x) - (half2)(r.x, s.y));
    out[3 * n + i] = word_f16x2(-p.yx * s.xx + q);
}

KERNEL(packed_fma_f16, f16, 128) {
    PAIRS;
    const half2 sum = {fma16(p.x, q.x, r.x), fma16(p.y, q.y, r.y)};
    const half2 crossed = {fma16(p.y, q.x, s.y), fma16(p.x, q.y, s.x)};
    out[i] = word_f16x2(sum);
    out[n + i] = word_f16x2(crossed);
}

KERNEL(packed_minimum_maximum_f16, f16, 128) {
    PAIRS;
    out[i] = word_f16x2(elementwise(minimum)(p, q));
    out[n + i] = word_f16x2(elementwise(maximum)(p, q));
    out[2 * n + i] = word_f16x2(elementwise(abs)(r) - elementwise(abs)(s));
}

KERNEL(mixed_precision, f16, 128) { // halves as operands of single precision: v_fma_mix*
    HALVES;
    out[i] = word_f32(fma32((float)x, (float)y, (float)z));
    out[n + i] = word_f32(fma32((float)f16(a >> 16), (float)f16(b >> 16), (float)w));
    out[2 * n + i] = word_f32((float)x * (float)y + (float)f16(c >> 16));
    out[3 * n + i] = word_f16((half)fma32((float)x, -(float)y, 0.25f));
}

KERNEL(half_arrays, f16, 128) {
    HALVES;
    half values[8] = {x, y, z, w, x + y, z * w, x - w, y - z};
    half sum = 0;
    for (int k = 0; k < 8; ++k)
        sum += values[k] * (half)(k + 1);
    out[i] = word_f16(sum);
    out[n + i] = word_f16(values[a >> 16 & 7]);
}

KERNEL(selected_halves, f16, 128) {
    PAIRS;
    out[i] = word_f16x2((half2)(p.x < q.x ? p.x : q.y, p.y < q.y ? r.y : s.x));
    out[n + i] = (a & 0xffff) | (b & 0xffff0000);
    out[2 * n + i] = (a >> 16) | (b << 16);
    out[3 * n + i] = (uint)as(ushort, p.y) * as(ushort, q.x);
}

// SPDX-License-Identifier: MIT
// Single precision.
#include "prelude.h"

#define FLOATS                                                                                     \
    ITEM;                                                                                          \
    const float x = f32(a), y = f32(b), z = f32(c), w = f32(d);                                    \
    (void)x, (void)y, (void)z, (void)w

KERNEL(add_f32, f32, 128) {
    FLOATS;
    out[i] = word_f32(x + y);
    out[n + i] = word_f32(x - y);
    out[2 * n + i] = word_f32(z + w + 1.0f);
}

KERNEL(mul_f32, f32, 128) {
    FLOATS;
    out[i] = word_f32(x * y);
    out[n + i] = word_f32(z * w * 3.0f);
    out[2 * n + i] = word_f32(-x * 0.1f);
    out[3 * n + i] = word_f32(y * 0x1p-100f);
}

KERNEL(mul_then_add_is_two_roundings, f32, 128) {
    FLOATS;
    out[i] = word_f32(x * y + z);
    out[n + i] = word_f32(z - x * w);
    out[2 * n + i] = word_f32(x * 0.3f + 0.7f);
}

KERNEL(fma_f32, f32, 128) {
    FLOATS;
    out[i] = word_f32(fma32(x, y, z));
    out[n + i] = word_f32(fma32(-x, y, w));
    out[2 * n + i] = word_f32(fma32(x, 1.5f, -y));
    out[3 * n + i] = word_f32(fma32(x, y, -(x * y)));
}

KERNEL(divide_f32, f32, 128) {
    FLOATS;
    out[i] = word_f32(x / y);
    out[n + i] = word_f32(z / w);
    out[2 * n + i] = word_f32(1.0f / x);
    out[3 * n + i] = word_f32(y / 3.0f);
}

KERNEL(sqrt_f32, f32, 128) {
    FLOATS;
    out[i] = word_f32(elementwise(sqrt)(x));
    out[n + i] = word_f32(elementwise(sqrt)(elementwise(abs)(z)));
    out[2 * n + i] = word_f32(1.0f / elementwise(sqrt)(elementwise(abs)(w)));
}

KERNEL(compare_f32, f32, 128) {
    FLOATS;
    out[i] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
    out[n + i] = !(x < y) | !(x <= y) << 1 | !(x > y) << 2 | !(x >= y) << 3;
    out[2 * n + i] = __builtin_isunordered(x, y) | __builtin_islessgreater(x, y) << 1;
    out[3 * n + i] = (x < 0 && y > 1.0f ? a : b) + (z == w || z != z);
}

KERNEL(select_f32, f32, 128) {
    FLOATS;
    out[i] = word_f32(x < y ? z : w);
    out[n + i] = word_f32(x > y ? -x : elementwise(abs)(y));
    out[2 * n + i] = word_f32(x == y ? x + 1 : y * 2);
}

KERNEL(minimum_maximum_f32, f32, 128) { // IEEE 754-2019's: NaN wins, -0 < 0
    FLOATS;
    out[i] = word_f32(elementwise(minimum)(x, y));
    out[n + i] = word_f32(elementwise(maximum)(x, y));
    out[2 * n + i] = word_f32(elementwise(maximum)(elementwise(minimum)(x, z), w));
}

// fmin, fmax: a NaN loses. Which zero they give is open, so is what becomes of a signalling NaN.
INLINE float quiet(float x) { return x != x ? f32(0x7fc00000) : x; }
INLINE uint word_of_any_zero(float x) { return x == 0 ? 0 : word_f32(x); }

KERNEL(fmin_fmax_f32, f32, 128) {
    FLOATS;
    const float qx = quiet(x), qy = quiet(y), qz = quiet(z);
    out[i] = word_of_any_zero(__builtin_fminf(qx, qy));
    out[n + i] = word_of_any_zero(__builtin_fmaxf(qx, qy));
    out[2 * n + i] = word_of_any_zero(__builtin_fmaxf(__builtin_fminf(qx, qy), qz));
    out[3 * n + i] = word_of_any_zero(__builtin_fminf(__builtin_fmaxf(qx, 0.0f), 1.0f));
}

KERNEL(median_f32, f32, 128) {
    FLOATS;
    const float qx = quiet(x), qy = quiet(y), qz = quiet(z);
    const float low = __builtin_fminf(qx, qy), high = __builtin_fmaxf(qx, qy);
    out[i] = word_of_any_zero(__builtin_fmaxf(low, __builtin_fminf(high, qz)));
    out[n + i] = word_of_any_zero(__builtin_fminf(__builtin_fmaxf(qx, -2.5f), 17.0f));
}

KERNEL(round_f32, f32, 128) {
    FLOATS;
    out[i] = word_f32(elementwise(floor)(x));
    out[n + i] = word_f32(elementwise(ceil)(x));
    out[2 * n + i] = word_f32(elementwise(trunc)(x));
    out[3 * n + i] = word_f32(elementwise(roundeven)(x));
}

KERNEL(round_halves_f32, f32, 128) {
    FLOATS;
    const float half_way = (float)(int)(a & 0xffff) * 0.5f - 8192.0f;
    out[i] = word_f32(elementwise(round)(half_way));
    out[n + i] = word_f32(elementwise(roundeven)(half_way));
    out[2 * n + i] = word_f32(elementwise(round)(y));
    out[3 * n + i] = word_f32(elementwise(floor)(half_way) - elementwise(ceil)(-half_way));
}

KERNEL(signs_f32, f32, 128) {
    FLOATS;
    out[i] = as(uint, elementwise(copysign)(x, y));
    out[n + i] = as(uint, elementwise(abs)(x));
    out[2 * n + i] = as(uint, -x);
    out[3 * n + i] = word_f32(elementwise(abs)(x) + -elementwise(abs)(y));
}

KERNEL(classes_f32, f32, 128) {
    FLOATS;
    out[i] = __builtin_isnan(x) | __builtin_isinf(x) << 1 | __builtin_isfinite(x) << 2 | __builtin_isnormal(x) << 3;
    out[n + i] = __builtin_isfpclass(x, 0x041) | __builtin_isfpclass(x, 0x090) << 1 | __builtin_isfpclass(x, 0x206) << 2;
    out[2 * n + i] = (uint)(__builtin_signbit(x) != 0) + (uint)__builtin_isfpclass(y, 0x3fc);
}

KERNEL(frexp_ldexp_f32, f32, 128) {
    FLOATS;
    int exponent = 0;
    const int finite = __builtin_isfinite(x);
    const float mantissa = __builtin_frexpf(finite ? x : 1.5f, &exponent);
    out[i] = word_f32(mantissa);
    out[n + i] = (uint)exponent;
    out[2 * n + i] = word_f32(__builtin_ldexpf(y, (int)(c % 600) - 300));
    out[3 * n + i] = word_f32(__builtin_ldexpf(mantissa, exponent));
}

KERNEL(horner_f32, f32, 128) {
    FLOATS;
    float sum = 0.25f;
    for (int k = 0; k < 12; ++k)
        sum = fma32(sum, x, k & 1 ? y : -0.75f);
    out[i] = word_f32(sum);
    float product = 1;
    for (int k = 0; k < 7; ++k)
        product = product * x + y;
    out[n + i] = word_f32(product);
}

KERNEL(compensated_sum_f32, f32, 128) {
    FLOATS;
    const float sum = x + y, back = sum - x, error = (x - (sum - back)) + (y - back);
    const float product = x * z, rest = fma32(x, z, -product);
    out[i] = word_f32(sum);
    out[n + i] = word_f32(error);
    out[2 * n + i] = word_f32(rest);
}

KERNEL(pairs_f32, f32, 128) { // what clang packs into VOPD, or leaves alone
    FLOATS;
    float2 p = {x, y}, q = {z, w};
    p = p * q + (float2)(1.0f, -1.0f);
    q = q - p * 0.5f;
    out[i] = word_f32(p.x);
    out[n + i] = word_f32(p.y);
    out[2 * n + i] = word_f32(q.x);
    out[3 * n + i] = word_f32(q.y);
}

KERNEL(dot_products_f32, f32, 128) {
    FLOATS;
    float sums[4] = {x, y, z, w};
    for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 4; ++j)
            sums[j] = fma32(sums[(j + 1) & 3], 0.5f + k, sums[j]);
    for (int j = 0; j < 4; ++j)
        out[j * n + i] = word_f32(sums[j]);
}

KERNEL(uniform_f32, f32, 128) { // the scalar unit's floats, where there are some
    FLOATS;
    const float u = f32(in[group_id()]), v = f32(in[n + group_id()]), s = f32(in[2 * n + group_id()]);
    out[i] = word_f32(u * v + s);
    out[n + i] = word_f32(fma32(u, v, s) - u);
    out[2 * n + i] = word_f32(elementwise(floor)(u) + elementwise(trunc)(v));
    out[3 * n + i] = (u < v) | (u == s) << 1 | (uint)(int)(v * 100.0f) << 2;
}

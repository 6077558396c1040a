// SPDX-License-Identifier: MIT
// The transcendental instructions alone, against the host's C library. They are documented to one unit
// in the last place and have bits of their own, so results are compared as near, as each row says.
#include "prelude.h"

#if DEVICE
#define rcp(x) __builtin_amdgcn_rcpf(x)
#define rsq(x) __builtin_amdgcn_rsqf(x)
#define root(x) __builtin_amdgcn_sqrtf(x)
#define exponential2(x) __builtin_amdgcn_exp2f(x)
#define logarithm2(x) __builtin_amdgcn_logf(x)
#else
double exp2(double x);
double log2(double x);
#define rcp(x) (float)(1.0 / (double)(x))
#define rsq(x) (float)(1.0 / __builtin_sqrt((double)(x)))
#define root(x) (float)__builtin_sqrt((double)(x))
#define exponential2(x) (float)exp2((double)(x))
#define logarithm2(x) (float)log2((double)(x))
#endif
// Subnormal operands and results are another matter: the instructions flush them.
INLINE float tame(uint word) { return f32((word & 0x807fffff) | (64 + (word >> 23) % 128) << 23); }
INLINE float positive(uint word) { return f32(as(uint, tame(word)) & 0x7fffffff); }

KERNEL_NEAR(v_rcp_f32, f32, 128, 1, "documented to 1 ulp") {
    ITEM;
    out[i] = word_f32(rcp(tame(a)));
}

KERNEL_NEAR(v_rsq_f32, f32, 128, 1, "documented to 1 ulp") {
    ITEM;
    out[i] = word_f32(rsq(positive(a)));
}

KERNEL_NEAR(v_sqrt_f32, f32, 128, 1, "documented to 1 ulp") {
    ITEM;
    out[i] = word_f32(root(positive(a)));
}

KERNEL_NEAR(v_exp_f32, f32, 128, 1, "documented to 1 ulp") {
    ITEM;
    const float x = (float)(int)(a & 0xffffff) * (0x1p-18f) - 32.0f;
    out[i] = word_f32(exponential2(x));
}

KERNEL_NEAR(v_log_f32, f32, 128, 1, "documented to 1 ulp") {
    ITEM;
    out[i] = word_f32(logarithm2(positive(a)));
}

KERNEL(trans_of_special_values, words, 64) { // no rounding, so exact
    ITEM;
    const float infinity = f32(0x7f800000), power = f32((64 + a % 128) << 23);
    out[i] = word_f32(rcp(power)) ^ word_f32(rcp(a & 1 ? infinity : -infinity));
    out[n + i] = word_f32(root(power * power)) ^ word_f32(rsq(infinity));
    out[2 * n + i] = word_f32(exponential2((float)(int)(a % 250) - 125.0f)) ^ word_f32(exponential2(-infinity));
    out[3 * n + i] = word_f32(logarithm2(power)) ^ word_f32(logarithm2(infinity));
}

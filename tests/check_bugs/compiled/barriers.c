// SPDX-License-Identifier: MIT
// Barriers that all work-items reach: F-005. The bug: at some barriers a work-item's own number
// decides.
#include "kernel.h"

#if BUG
#define ALL(condition) ((condition) && (X & 1))
#else
#define ALL(condition) (condition)
#endif

KERNEL(reduction, 256, 1, 1)(const float *in, float *out, int n) {
    LDS float lds[256];
    float sum = 0;
    for (int i = X; i < n; i += 256) {
        if (in[i] < 0)
            continue;
        if (in[i] > 1e30f)
            break;
        sum += in[i];
    }
    lds[X] = sum;
    barrier();
    for (int k = 128; ALL(k); k >>= 1) {
        if (X < k)
            lds[X] += lds[X + k];
        barrier();
    }
    if (X == 0)
        *out = lds[0];
}
KERNEL(conditional, 128, 1, 1)(const u32 *in, u32 *out, int n) {
    LDS u32 lds[128];
    lds[X] = in[X];
    barrier();
    if (ALL(n > 4)) {
        if (X < 100)
            lds[X] += 7;
        barrier();
    }
    out[X] = lds[127 - X];
}
KERNEL(tiles, 16, 16, 1)(const float *a, const float *b, float *out, int n) {
    LDS float left[16][16], right[16][16];
    float sum = 0;
    for (int k = 0; ALL(k < n); k += 16) {
        left[Y][X] = a[Y * 32 + k + X];
        right[Y][X] = b[(k + Y) * 16 + X];
        barrier();
        for (int i = 0; i < 16; i++)
            sum += left[Y][i] * right[i][X];
        barrier();
    }
    out[Y * 16 + X] = sum;
}

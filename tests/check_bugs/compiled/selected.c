// SPDX-License-Identifier: MIT
// Arrays in registers, whose elements M0 selects.
#include "kernel.h"
typedef u32 v16 __attribute__((ext_vector_type(16)));
typedef double d4 __attribute__((ext_vector_type(4)));

KERNEL(written, 64, 1, 1)(const u32 *in, u32 *out) {
    v16 v;
    const u32 x = in[X];
    ROLLED for (int k = 0; k < 16; k++) v[k] = x * (k + 1);
    out[X] = v[(x + X) & 15];
}
KERNEL(read, 64, 1, 1)(const u32 *in, u32 *out) {
    u32 v[16], sum = 0;
    for (int k = 0; k < 16; k++)
        v[k] = in[2 * k + (X & 1)];
    ROLLED for (int k = 0; k < 16; k += 3) sum = sum * 5 + v[k];
    out[X] = sum;
}
KERNEL(updated, 64, 1, 1)(const u32 *in, u32 *out) {
    u32 v[12] = {0}, sum = 0;
    ROLLED for (int k = 0; k < 40; k++) v[in[k] % 12] += in[k] + X;
    for (int k = 0; k < 12; k++)
        sum = sum * 3 + v[k];
    out[X] = sum;
}
KERNEL(uniform, 64, 1, 1)(const u32 *in, u32 *out) {
    v16 v = 0;
    v[in[0] & 15] = X, v[in[1] & 15] = in[X];
    out[X] = v[in[2] & 15] + v[in[3] & 15];
}
KERNEL(scalar, 64, 1, 1)(const u32 *in, u32 *out) {
    v16 v;
    u32 sum = 0;
    for (int k = 0; k < 16; k++)
        v[k] = in[k];
    ROLLED for (int k = 0; k < 16; k++) sum += v[(k * 7 + in[20]) & 15];
    out[X] = sum;
}
KERNEL(pairs, 64, 1, 1)(const double *in, double *out) {
    d4 v;
    for (int k = 0; k < 4; k++)
        v[k] = in[k];
    ROLLED for (int k = 0; k < 4; k++) v[k] = v[3 - k] + X;
    out[X] = v[X & 3];
}

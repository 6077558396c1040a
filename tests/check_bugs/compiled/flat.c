// SPDX-License-Identifier: MIT
// Atomics on addresses of which nothing is known: H-010, and paths for addresses in scratch memory.
#include "kernel.h"

KERNEL(each, 64, 1, 1)(volatile u64 *cells, u64 *out) {
    out[X] = __builtin_amdgcn_atomic_inc64(cells + X, 7, __ATOMIC_RELAXED, "agent");
}
KERNEL(one, 64, 1, 1)(volatile u64 *cells, u64 *out) {
    out[X] = __builtin_amdgcn_atomic_inc64(cells, 7, __ATOMIC_RELAXED, "agent");
}
KERNEL(unread, 64, 1, 1)(volatile u64 *cells, u64 *out) {
    __builtin_amdgcn_atomic_dec64(cells + X, 7, __ATOMIC_RELAXED, "agent");
    out[X] = 1;
}
KERNEL(two, 64, 1, 1)(volatile u64 *cells, u64 *out) {
    const u64 a = __builtin_amdgcn_atomic_inc64(cells + X, 7, __ATOMIC_RELAXED, "agent");
    out[X] = a * __builtin_amdgcn_atomic_dec64(cells + 64 + X, 9, __ATOMIC_RELAXED, "agent");
}
KERNEL(loop, 64, 1, 1)(volatile u64 *cells, u64 *out) {
    u64 sum = 0;
    for (int k = 0; k < X % 5; k++)
        sum += __builtin_amdgcn_atomic_inc64(cells + X + 8 * k, 7, __ATOMIC_RELAXED, "agent");
    out[X] = sum;
}
KERNEL(added, 64, 1, 1)(u64 *cells, u64 *out) {
    out[X] = __hip_atomic_fetch_add(cells + X, 3, __ATOMIC_RELAXED, DEVICE);
}
KERNEL(added_f64, 64, 1, 1)(double *cells, double *out) {
    out[X] = __hip_atomic_fetch_add(cells + X, 1., __ATOMIC_RELAXED, DEVICE);
}
KERNEL(of_two_kinds, 64, 1, 1)(float *cells, float *out) {
    LDS float lds[64];
    lds[X] = cells[X];
    barrier();
    float *p = X & 1 ? (float *)(lds + X) : cells + X;
    out[X] = __hip_atomic_fetch_add(p, 3.f, __ATOMIC_RELAXED, GROUP);
}
KERNEL(own, 64, 1, 1)(volatile u64 *cells, u64 *out) {
    u64 own[4];
    for (int k = 0; k < 4; k++)
        own[k] = k + X;
    volatile u64 *p = cells[X] & 1 ? own + (X & 3) : cells + X;
    out[X] = __builtin_amdgcn_atomic_inc64(p, 7, __ATOMIC_RELAXED, "agent") + own[1];
}

// SPDX-License-Identifier: MIT
// Atomics in LDS that some or all targets lack: loops of compare-exchanges (S-085). The bug:
// nothing orders the results before the loads that store them.
#include "kernel.h"

#if BUG
#define DONE
#else
#define DONE barrier()
#endif
#define LOOP(name, type, operation, value)                                                         \
    KERNEL(name, 256, 1, 1)(const u32 *in, type *out) {                                            \
        LDS type cells[8];                                                                         \
        if (X < 8)                                                                                 \
            cells[X] = 0;                                                                          \
        barrier();                                                                                 \
        __hip_atomic_fetch_##operation(&cells[X & 3], (type)(value), __ATOMIC_RELAXED, GROUP);     \
        DONE;                                                                                      \
        if (X < 8)                                                                                 \
            out[X] = cells[X];                                                                     \
    }
LOOP(add_f64, double, add, 1)
LOOP(sub_f64, double, sub, X)
LOOP(max_f64, double, max, X)
LOOP(min_f64, double, min, -X)
LOOP(add_f32, float, add, 1)
LOOP(sub_f32, float, sub, X)
LOOP(max_f32, float, max, X)
LOOP(add_f16, f16, add, 1)
LOOP(max_f16, f16, max, X)
LOOP(add_bf16, bf16, add, 1)
LOOP(min_bf16, bf16, min, -X)
LOOP(add_i16, short, add, X)
LOOP(max_i8, signed char, max, X)
LOOP(add_u64, u64, add, X)

KERNEL(one_cell, 256, 1, 1)(const u32 *in, double *out) { // the compiler sums over a wave first
    LDS double sum;
    if (X == 0)
        sum = 0;
    barrier();
    __hip_atomic_fetch_add(&sum, 1., __ATOMIC_RELAXED, GROUP);
    DONE;
    out[X] = sum;
}

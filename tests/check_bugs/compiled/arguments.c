// SPDX-License-Identifier: MIT
// Arguments that end in numbers of dwords for which there is no scalar load: D-004.
#include "kernel.h"
#define TAIL(n)                                                                                    \
    struct s##n {                                                                                  \
        u32 x[n];                                                                                  \
    };                                                                                             \
    KERNEL(tail##n, 64, 1, 1)(u32 * out, struct s##n s) {                                          \
        u32 sum = 0;                                                                               \
        for (int k = 0; k < n; k++)                                                                \
            sum = sum * 3 + s.x[k];                                                                \
        out[X] = sum;                                                                              \
    }                                                                                              \
    KERNEL(last##n, 64, 1, 1)(u32 * out, const u32 *in, struct s##n s) {                           \
        out[X] = s.x[n - 1] + in[X];                                                               \
    }
TAIL(1)
TAIL(2)
TAIL(3)
TAIL(4)
TAIL(5)
TAIL(6)
TAIL(7)
TAIL(8)
TAIL(9)
TAIL(11)
TAIL(13)
TAIL(15)

KERNEL(three, 64, 1, 1)(const float *a, const float *b, float *out, int n, float x, float y) {
    if (X < n)
        out[X] = a[X] * x + b[X] * y;
}
KERNEL(seven, 64, 1, 1)(float *out, float a, float b, float c, float d, float e, float f, float g) {
    out[X] = a + b * c + d * e + f * g + X;
}
KERNEL(small, 64, 1, 1)(u32 *out, int n, short s, char c) { out[X] = n + s * X + c; }
KERNEL(byte, 64, 1, 1)(u32 *out, char c) { out[X] = c; }

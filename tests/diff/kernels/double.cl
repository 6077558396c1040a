// SPDX-License-Identifier: MIT
// Double precision.
#include "prelude.h"

#define DOUBLES                                                                                    \
    ITEM;                                                                                          \
    const double x = f64(a, b), y = f64(c, d)

KERNEL(add_f64, f64, 128) {
    DOUBLES;
    PUT64(0, word_f64(x + y));
    PUT64(2, word_f64(x - y * 0.5));
}

KERNEL(mul_f64, f64, 128) {
    DOUBLES;
    PUT64(0, word_f64(x * y));
    PUT64(2, word_f64(-x * 0.1));
}

KERNEL(fma_f64, f64, 128) {
    DOUBLES;
    PUT64(0, word_f64(fma64(x, y, x)));
    PUT64(2, word_f64(fma64(x, y, -(x * y))));
}

KERNEL(divide_f64, f64, 128) {
    DOUBLES;
    PUT64(0, word_f64(x / y));
    PUT64(2, word_f64(1.0 / x));
}

KERNEL(sqrt_f64, f64, 128) {
    DOUBLES;
    PUT64(0, word_f64(elementwise(sqrt)(x)));
    PUT64(2, word_f64(elementwise(sqrt)(elementwise(abs)(y))));
}

KERNEL(compare_f64, f64, 128) {
    DOUBLES;
    out[i] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
    out[n + i] = !(x < y) | !(x >= y) << 1 | __builtin_isunordered(x, y) << 2;
    PUT64(2, word_f64(x > y ? -x : elementwise(abs)(y)));
}

KERNEL(minimum_maximum_f64, f64, 128) {
    DOUBLES;
    PUT64(0, word_f64(elementwise(minimum)(x, y)));
    PUT64(2, word_f64(elementwise(maximum)(x, y)));
}

KERNEL(round_f64, f64, 128) {
    DOUBLES;
    PUT64(0, word_f64(elementwise(floor)(x) - elementwise(ceil)(y)));
    PUT64(2, word_f64(elementwise(trunc)(x) + elementwise(roundeven)(y)));
}

KERNEL(frexp_ldexp_f64, f64, 128) {
    DOUBLES;
    int exponent = 0;
    const double mantissa = __builtin_frexp(__builtin_isfinite(x) ? x : 0.75, &exponent);
    PUT64(0, word_f64(mantissa));
    out[2 * n + i] = (uint)exponent;
    const double scaled = __builtin_ldexp(y, (int)(a % 3000) - 1500);
    out[3 * n + i] = (uint)word_f64(scaled) ^ (uint)(word_f64(scaled) >> 32);
}

KERNEL(classes_f64, f64, 128) {
    DOUBLES;
    out[i] = __builtin_isnan(x) | __builtin_isinf(x) << 1 | __builtin_isfinite(x) << 2 | __builtin_isnormal(x) << 3;
    out[n + i] = __builtin_isfpclass(y, 0x041) | __builtin_isfpclass(y, 0x090) << 1 | __builtin_isfpclass(y, 0x206) << 2;
    PUT64(2, as(ulong, elementwise(copysign)(x, y)));
}

KERNEL(newton_f64, f64, 64) {
    DOUBLES;
    double guess = 1.0 + (double)(a & 0xff), target = elementwise(abs)(y);
    for (int k = 0; k < 6; ++k)
        guess = 0.5 * (guess + target / guess);
    PUT64(0, word_f64(guess));
    PUT64(2, word_f64(guess * guess - target));
}

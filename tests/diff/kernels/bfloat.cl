// SPDX-License-Identifier: MIT
// bfloat16: the targets compute in single precision and round; so does the host.
#include "prelude.h"

#define BFLOATS                                                                                    \
    ITEM;                                                                                          \
    const __bf16 x = bf16(a), y = bf16(b), z = bf16(c), w = bf16(d);                               \
    (void)x, (void)y, (void)z, (void)w

KERNEL(add_bf16, bf16, 128) {
    BFLOATS;
    out[i] = word_bf16(x + y);
    out[n + i] = word_bf16(x - z);
    out[2 * n + i] = word_bf16(x + y + z);
}

KERNEL(mul_bf16, bf16, 128) {
    BFLOATS;
    out[i] = word_bf16(x * y);
    out[n + i] = word_bf16(x * y + z);
    out[2 * n + i] = word_bf16(-z * w);
}

KERNEL(divide_bf16, bf16, 128) {
    BFLOATS;
    out[i] = word_bf16(x / y);
    out[n + i] = word_bf16(z / w);
}

KERNEL(compare_bf16, bf16, 128) {
    BFLOATS;
    out[i] = (x < y) | (x <= y) << 1 | (x > y) << 2 | (x >= y) << 3 | (x == y) << 4 | (x != y) << 5;
    out[n + i] = word_bf16(x < y ? z : w);
}

KERNEL(widen_bf16, bf16, 128) {
    BFLOATS;
    out[i] = word_f32((float)x);
    out[n + i] = word_f32(bf16_wide(a >> 16) * bf16_wide(b & 0xffff));
    out[2 * n + i] = word_f32(fma32((float)x, (float)y, (float)z));
}

KERNEL(narrow_to_bf16, f32, 128) {
    ITEM;
    out[i] = word_bf16((__bf16)f32(a));
    out[n + i] = word_bf16((__bf16)(f32(a) + f32(b)));
    out[2 * n + i] = word_bf16((__bf16)f32(c)) | word_bf16((__bf16)f32(d)) << 16;
}

KERNEL(narrow_to_bf16_by_bits, f32, 128) { // as kernels of inference engines write it
    ITEM;
    const uint rounded = a + 0x7fff + (a >> 16 & 1);
    out[i] = (a & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded >> 16;
    out[n + i] = (b + 0x8000) >> 16 | (c & 0xffff0000);
}

KERNEL(sum_of_products_bf16, bf16, 128) {
    BFLOATS;
    float sum = 0;
    const uint left[4] = {a, b, c, d};
    for (int k = 0; k < 4; ++k) {
        sum = fma32(bf16_wide(left[k] & 0xffff), bf16_wide(left[3 - k] >> 16), sum);
        sum += bf16_wide(left[k] >> 16);
    }
    out[i] = word_f32(sum);
    out[n + i] = word_bf16((__bf16)sum);
}

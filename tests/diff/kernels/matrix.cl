// SPDX-License-Identifier: MIT
// WMMA and float dot products over small integers, whose products and sums are exact in any order. On the
// device a wave gathers its fragments of 16 x 16 matrices from memory and puts the result back; the
// host multiplies matrices.
//
// Floats are not negative: gfx11 cuts a term whose sign is not the addend's down by a unit of its grid
// even where nothing is lost (isa_notes/S-004), so mixed signs are not exact.
//
// Matrices of group g: element (row, column) of the left one is a number made of in[g + 16 row + column],
// of the right one of in[n + g + 16 row + column], of the addend of in[2n + ...]. One wave per group.
#include "prelude.h"

INLINE int left_element(global const uint *in, uint n, uint row, uint k, int least) {
    return (int)(in[(group_id() * 256 + row * 16 + k) % n] & 15) + least;
}
INLINE int right_element(global const uint *in, uint n, uint k, uint column, int least) {
    return (int)(in[n + (group_id() * 256 + k * 16 + column) % n] & 15) + least;
}
INLINE int addend(global const uint *in, uint n, uint row, uint column, int least) {
    return (int)(in[2 * n + (group_id() * 256 + row * 16 + column) % n] & 63) + least;
}

// Where lane and register of a fragment lie in the matrix.
#if DEVICE && (defined(__gfx1200__) || defined(__gfx1201__))
#if WAVE == 32
#define FRAGMENT 8 // elements of A and B per lane
#define K_OF(lane, j) (8 * ((lane) / 16) + (j))
#else
#define FRAGMENT 4
#define K_OF(lane, j) (4 * ((lane) / 16) + (j))
#define IU4_FRAGMENT 8 // of lanes 0 to 31 only
#define IU4_K_OF(lane, j) (8 * ((lane) / 16 % 2) + (j))
#endif
#define ROW_OF(lane, j) ((j) + 8 * ((lane) / 16 % 2) + 4 * ((lane) / 32))
#define wmma(name) name##_gfx12
#elif DEVICE
#define FRAGMENT 16 // all of a row, twice over the lanes
#define K_OF(lane, j) (j)
#define ROW_OF(lane, j) ((WAVE / 16) * (j) + (lane) / 16)
#define wmma(name) name
#endif
#if DEVICE
#ifndef IU4_FRAGMENT
#define IU4_FRAGMENT FRAGMENT
#define IU4_K_OF(lane, j) K_OF(lane, j)
#endif
#define RESULTS (256 / WAVE)
typedef half half_fragment __attribute__((ext_vector_type(FRAGMENT)));
typedef __bf16 bf16_elements __attribute__((ext_vector_type(FRAGMENT)));
typedef short short_fragment __attribute__((ext_vector_type(FRAGMENT)));
typedef float float_results __attribute__((ext_vector_type(RESULTS)));
typedef int int_results __attribute__((ext_vector_type(RESULTS)));
#if WAVE == 32
#define WIDTH(name) wmma(name##_w32)
#else
#define WIDTH(name) wmma(name##_w64)
#endif
#endif

INLINE int product_element(global const uint *in, uint n, uint row, uint column, int least) {
    int sum = addend(in, n, row, column, least);
    for (uint k = 0; k < 16; ++k)
        sum += left_element(in, n, row, k, least) * right_element(in, n, k, column, least);
    return sum;
}

// Each group writes its 256 results over the planes: group g owns words [256 g, 256 g + 256).
#define EACH_RESULT(expression)                                                                    \
    for (uint cell = local_id(); cell < 256; cell += WAVE)                                         \
        out[group_id() * 256 + cell] = expression
#define MATRIX_GROUP                                                                               \
    ITEM;                                                                                          \
    const uint lane = local_id();                                                                  \
    if (lane >= WAVE || group_id() * 256 >= 4 * n)                                                 \
        return;                                                                                    \
    (void)lane

KERNEL(wmma_f32_f16, words, 64) {
    MATRIX_GROUP;
#if DEVICE
    half_fragment left, right;
    float_results sum;
    for (uint j = 0; j < FRAGMENT; ++j) {
        left[j] = (half)left_element(in, n, lane & 15, K_OF(lane, j), 0);
        right[j] = (half)right_element(in, n, K_OF(lane, j), lane & 15, 0);
    }
    for (uint j = 0; j < RESULTS; ++j)
        sum[j] = (float)addend(in, n, ROW_OF(lane, j), lane & 15, 0);
    sum = WIDTH(__builtin_amdgcn_wmma_f32_16x16x16_f16)(left, right, sum);
    for (uint j = 0; j < RESULTS; ++j)
        out[group_id() * 256 + ROW_OF(lane, j) * 16 + (lane & 15)] = word_f32(sum[j]);
#else
    EACH_RESULT(word_f32((float)product_element(in, n, cell / 16, cell % 16, 0)));
#endif
}

KERNEL(wmma_f32_bf16, words, 64) {
    MATRIX_GROUP;
#if DEVICE
    bf16_elements left, right;
    float_results sum;
    for (uint j = 0; j < FRAGMENT; ++j) {
        left[j] = (__bf16)(float)left_element(in, n, lane & 15, K_OF(lane, j), 0);
        right[j] = (__bf16)(float)right_element(in, n, K_OF(lane, j), lane & 15, 0);
    }
    for (uint j = 0; j < RESULTS; ++j)
        sum[j] = (float)addend(in, n, ROW_OF(lane, j), lane & 15, 0);
    sum = WIDTH(__builtin_amdgcn_wmma_f32_16x16x16_bf16)(as(short_fragment, left), as(short_fragment, right), sum);
    for (uint j = 0; j < RESULTS; ++j)
        out[group_id() * 256 + ROW_OF(lane, j) * 16 + (lane & 15)] = word_f32(sum[j]);
#else
    EACH_RESULT(word_f32((float)product_element(in, n, cell / 16, cell % 16, 0)));
#endif
}

// Bytes and nibbles of a fragment, as words.
#if DEVICE
#if FRAGMENT == 16
typedef int iu8_operand __attribute__((ext_vector_type(4)));
typedef int iu4_operand __attribute__((ext_vector_type(2)));
#elif FRAGMENT == 8
typedef int iu8_operand __attribute__((ext_vector_type(2)));
typedef int iu4_operand;
#else
typedef int iu8_operand;
typedef int iu4_operand;
#endif
#endif

KERNEL(wmma_i32_iu8, words, 64) {
    MATRIX_GROUP;
#if DEVICE
    uint left[(FRAGMENT + 3) / 4] = {0}, right[(FRAGMENT + 3) / 4] = {0};
    int_results sum;
    for (uint j = 0; j < FRAGMENT; ++j) {
        left[j / 4] |= (uint)(uchar)left_element(in, n, lane & 15, K_OF(lane, j), -8) << 8 * (j % 4);
        right[j / 4] |= (uint)(uchar)right_element(in, n, K_OF(lane, j), lane & 15, -8) << 8 * (j % 4);
    }
    for (uint j = 0; j < RESULTS; ++j)
        sum[j] = addend(in, n, ROW_OF(lane, j), lane & 15, -8);
    iu8_operand x, y;
    __builtin_memcpy(&x, left, sizeof x);
    __builtin_memcpy(&y, right, sizeof y);
    sum = WIDTH(__builtin_amdgcn_wmma_i32_16x16x16_iu8)(1, x, 1, y, sum, 0);
    for (uint j = 0; j < RESULTS; ++j)
        out[group_id() * 256 + ROW_OF(lane, j) * 16 + (lane & 15)] = (uint)sum[j];
#else
    EACH_RESULT((uint)product_element(in, n, cell / 16, cell % 16, -8));
#endif
}

KERNEL(wmma_i32_iu4, words, 64) {
    MATRIX_GROUP;
#if DEVICE
    uint left[IU4_FRAGMENT / 8] = {0}, right[IU4_FRAGMENT / 8] = {0};
    int_results sum;
    for (uint j = 0; j < IU4_FRAGMENT; ++j) {
        left[j / 8] |= ((uint)left_element(in, n, lane & 15, IU4_K_OF(lane, j), -8) & 15) << 4 * (j % 8);
        right[j / 8] |= ((uint)right_element(in, n, IU4_K_OF(lane, j), lane & 15, -8) & 15) << 4 * (j % 8);
    }
    for (uint j = 0; j < RESULTS; ++j)
        sum[j] = addend(in, n, ROW_OF(lane, j), lane & 15, -8);
    iu4_operand x, y;
    __builtin_memcpy(&x, left, sizeof x);
    __builtin_memcpy(&y, right, sizeof y);
    sum = WIDTH(__builtin_amdgcn_wmma_i32_16x16x16_iu4)(1, x, 1, y, sum, 0);
    for (uint j = 0; j < RESULTS; ++j)
        out[group_id() * 256 + ROW_OF(lane, j) * 16 + (lane & 15)] = (uint)sum[j];
#else
    EACH_RESULT((uint)product_element(in, n, cell / 16, cell % 16, -8));
#endif
}

INLINE int small(uint word, uint k) { return (int)(word >> 4 * k & 15); }

KERNEL(dot2_f32_f16, words, 128) {
    ITEM;
    const half2 x = {(half)small(a, 0), (half)small(a, 1)}, y = {(half)small(b, 3), (half)small(b, 5)};
    const float z = (float)small(c, 2);
#if DEVICE
    out[i] = word_f32(__builtin_amdgcn_fdot2(x, y, z, 0));
#else
    out[i] = word_f32((float)x.x * (float)y.x + (float)x.y * (float)y.y + z);
#endif
}

KERNEL(dot2_f16_f16, words, 128) {
    ITEM;
    const half2 x = {(half)small(a, 0), (half)small(a, 1)}, y = {(half)small(b, 3), (half)small(b, 5)};
    const half z = (half)small(c, 2);
#if DEVICE
    out[i] = word_f16(__builtin_amdgcn_fdot2_f16_f16(x, y, z));
#else
    out[i] = word_f16(x.x * y.x + x.y * y.y + z);
#endif
}

KERNEL(dot2_f32_bf16, words, 128) {
    ITEM;
    const __bf16 x0 = (__bf16)(float)small(a, 0), x1 = (__bf16)(float)small(a, 6), y0 = (__bf16)(float)small(b, 1),
                 y1 = (__bf16)(float)small(b, 2);
    const float z = (float)small(c, 2);
#if DEVICE
    const short2 x = {as(short, x0), as(short, x1)}, y = {as(short, y0), as(short, y1)};
    out[i] = word_f32(__builtin_amdgcn_fdot2_f32_bf16(x, y, z, 0));
#else
    out[i] = word_f32((float)x0 * (float)y0 + (float)x1 * (float)y1 + z);
#endif
}

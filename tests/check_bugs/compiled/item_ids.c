// SPDX-License-Identifier: MIT
// Workgroups of two and three dimensions: A-011.
#include "kernel.h"

KERNEL(two, 16, 8, 1)(const u32 *in, u32 *out) { out[16 * Y + X] = in[Y] + X; }
KERNEL(second, 8, 8, 1)(const u32 *in, u32 *out) { out[in[Y & 7] % 64 + X] = 1; }
KERNEL(three, 4, 4, 8)(const u32 *in, u32 *out) {
    out[(4 * Z + Y) * 4 + X] = in[(X + Y + Z) & 7] + Z;
}
KERNEL(odd, 5, 3, 4)(const u32 *in, u32 *out) { out[(3 * Z + Y) * 5 + X] = in[X] * Y + Z; }
KERNEL(tile, 16, 16, 1)(const float *in, float *out) {
    LDS float tile[16][17];
    tile[Y][X] = in[16 * Y + X];
    barrier();
    out[16 * Y + X] = tile[X][Y];
}

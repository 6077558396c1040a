// SPDX-License-Identifier: MIT
// lds_tile(x, y, rows, cols): y[c, r] = x[r, c], a transpose of f32 by tiles of 32 x 32 in LDS.
//   x      f32[rows, cols]
//   y      f32[cols, rows]; not x
//   rows, cols  multiples of 32; rows * cols at most 2^30
//   grid   cols / 32, rows / 32 workgroups of 256 work-items: x and y of the tile
//   loads and stores are both of whole cache lines, since LDS turns the tile
//
//   nw run  lds_tile.hip --gfx gfx1151 --grid 3,2 --args x=buf:24576:f32 y=buf:24576 rows=u32:64 cols=u32:96 --check all --print y:f32:8
//   nw time lds_tile.hip --gfx gfx1151 --grid 3,2 --args x=buf:24576:f32 y=buf:24576 rows=u32:64 cols=u32:96
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(256) void lds_tile(const float *x, float *y, unsigned rows, unsigned cols) {
    __shared__ float tile[32][33]; // 33: the elements of a column are in different banks
    const unsigned low = threadIdx.x % 32, high = threadIdx.x / 32;
    const unsigned row = 32 * blockIdx.y, col = 32 * blockIdx.x;
    for (unsigned i = high; i < 32; i += 8)
        tile[i][low] = x[(row + i) * cols + col + low];
    __syncthreads();
    for (unsigned i = high; i < 32; i += 8)
        y[(col + i) * rows + row + low] = tile[low][i];
}

// SPDX-License-Identifier: MIT
// pipelined(x, w, y, k): y[row] = sum of x[row, i] * w[i] for i < k, in f32; loads run a step ahead.
//   x      f32[rows, k], 16-byte aligned
//   w      f32[k], the same
//   y      f32[rows]
//   k      a multiple of 128, 128 to 2^29
//   grid   rows workgroups of 32 work-items: a wave for a row
//   order  a lane adds elements 4 lane + j of each 128 into sum j; then its four sums, then 32 lanes
//
//   nw run  pipelined.hip --gfx gfx1151 --grid 4 --args x=buf:8192:f32 w=buf:2048:f32 y=buf:16 k=u32:512 --check all --print y:f32:4
//   nw time pipelined.hip --gfx gfx1151 --grid 4 --args x=buf:8192:f32 w=buf:2048:f32 y=buf:16 k=u32:512
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(32) void pipelined(const float4 *x, const float4 *w, float *y, unsigned k) {
    const unsigned pieces = k / 4;
    x += size_t{blockIdx.x} * pieces;
    float4 next_x = x[threadIdx.x], next_w = w[threadIdx.x];
    float sums[4] = {};
    for (unsigned at = threadIdx.x; at < pieces; at += 32) {
        const float4 this_x = next_x, this_w = next_w;
        if (at + 32 < pieces) { // asked for before this step's are used
            next_x = x[at + 32];
            next_w = w[at + 32];
        }
        sums[0] = fmaf(this_x.x, this_w.x, sums[0]);
        sums[1] = fmaf(this_x.y, this_w.y, sums[1]);
        sums[2] = fmaf(this_x.z, this_w.z, sums[2]);
        sums[3] = fmaf(this_x.w, this_w.w, sums[3]);
    }
    float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor(sum, distance, 32);
    if (threadIdx.x == 0)
        y[blockIdx.x] = sum;
}

// SPDX-License-Identifier: MIT
// reduction(x, y, k): y[row] = sum of x[row * k + i] for i < k, in f32.
//   x      f32[rows, k]
//   y      f32[rows]
//   k      1 to 2^29
//   grid   rows workgroups of 256 work-items
//   order  a work-item adds every 256th element; then 32 lanes, then 8 waves
//
//   nw run  reduction.hip --gfx gfx1151 --grid 4 --args x=buf:16000:f32 y=buf:16 k=u32:1000 --check all --print y:f32:4
//   nw time reduction.hip --gfx gfx1151 --grid 4 --args x=buf:16000:f32 y=buf:16 k=u32:1000
#include <hip/hip_runtime.h>

constexpr unsigned lanes = 32, waves = 256 / lanes;

// The sum of a wave's lanes, in all of them.
__device__ float sum_of_lanes(float value) {
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor(value, distance, lanes);
    return value;
}

extern "C" __global__ __launch_bounds__(256) void reduction(const float *x, float *y, unsigned k) {
    __shared__ float sums[waves];
    x += size_t{blockIdx.x} * k;
    float sum = 0;
    for (unsigned i = threadIdx.x; i < k; i += 256)
        sum += x[i];
    sum = sum_of_lanes(sum);
    if (threadIdx.x % lanes == 0)
        sums[threadIdx.x / lanes] = sum;
    __syncthreads();
    if (threadIdx.x >= lanes) // the first wave adds up
        return;
    sum = sum_of_lanes(threadIdx.x < waves ? sums[threadIdx.x] : 0);
    if (threadIdx.x == 0)
        y[blockIdx.x] = sum;
}

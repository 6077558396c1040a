// SPDX-License-Identifier: MIT
// elementwise(x, y, a, b, n): y[i] = a * x[i] + b for i < n, in f32, rounded once.
//   x, y   f32[n]; y may be x
//   grid   ceil(n / 256) workgroups of 256 work-items
//
//   nw run  elementwise.hip --gfx gfx1151 --grid 4 --args x=buf:4000:f32 y=buf:4000 a=f32:2 b=f32:0.5 n=u32:1000 --check all --print y:f32:8
//   nw time elementwise.hip --gfx gfx1151 --grid 4 --args x=buf:4000:f32 y=buf:4000 a=f32:2 b=f32:0.5 n=u32:1000
#include <hip/hip_runtime.h>

// Launch bounds say the most work-items of a workgroup: tools take them for the block.
extern "C" __global__ __launch_bounds__(256) void elementwise(const float *x, float *y, float a, float b, unsigned n) {
    const unsigned i = 256 * blockIdx.x + threadIdx.x;
    if (i < n)
        y[i] = fmaf(a, x[i], b);
}

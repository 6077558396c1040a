// SPDX-License-Identifier: MIT
// wmma_tile(a, b, c, n, k): c[i, j] = sum of a[i, l] * b[j, l] for l < k: f16 in, f32 sums, by WMMA.
//   a      f16[m, k], 16-byte aligned
//   b      f16[n, k], the same
//   c      f32[m, n]
//   m, n, k  multiples of 16
//   grid   n / 16, m / 16 workgroups of 32 work-items: a wave and its tile of c
//   runs on gfx11 and gfx12, whose registers hold the operands differently
//
//   nw run  wmma_tile.hip --gfx gfx1151 --grid 2,1 --args a=buf:2048:f16 b=buf:4096:f16 c=buf:2048 n=u32:32 k=u32:64 --check all --print c:f32:8
//   nw time wmma_tile.hip --gfx gfx1151 --grid 2,1 --args a=buf:2048:f16 b=buf:4096:f16 c=buf:2048 n=u32:32 k=u32:64
#include <hip/hip_runtime.h>

using Sums = float __attribute__((ext_vector_type(8)));
#ifdef __GFX12__ // lanes 0 to 15 have the first 8 k of row lane % 16, lanes 16 to 31 the others
using Factor = _Float16 __attribute__((ext_vector_type(8)));
#define WMMA __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12
__device__ unsigned first_k(unsigned lane) { return lane / 16 * 8; }
__device__ unsigned row_of(unsigned e, unsigned lane) { return e + lane / 16 * 8; } // of register e of the sums
#else // a lane has all 16 k of it; lanes 16 to 31 repeat them
using Factor = _Float16 __attribute__((ext_vector_type(16)));
#define WMMA __builtin_amdgcn_wmma_f32_16x16x16_f16_w32
__device__ unsigned first_k(unsigned) { return 0; }
__device__ unsigned row_of(unsigned e, unsigned lane) { return 2 * e + lane / 16; }
#endif

extern "C" __global__ __launch_bounds__(32) void wmma_tile(const _Float16 *a, const _Float16 *b, float *c, unsigned n, unsigned k) {
    const unsigned lane = threadIdx.x, row = 16 * blockIdx.y, col = 16 * blockIdx.x;
    a += size_t{row + lane % 16} * k + first_k(lane);
    b += size_t{col + lane % 16} * k + first_k(lane);
    Sums sums = {};
    for (unsigned l = 0; l < k; l += 16)
        sums = WMMA(*(const Factor *)(a + l), *(const Factor *)(b + l), sums);
    for (unsigned e = 0; e < 8; ++e)
        c[size_t{row + row_of(e, lane)} * n + col + lane % 16] = sums[e];
}

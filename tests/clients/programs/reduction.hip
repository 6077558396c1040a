// SPDX-License-Identifier: MIT
// A sum by shuffles, LDS and one atomic of each workgroup; a __device__ variable is its result.
#include "check.h"

__device__ unsigned long long total;

__global__ void sum(const unsigned *x, size_t n) {
    __shared__ unsigned long long parts[32];
    unsigned long long mine = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += x[i];
    for (int by = warpSize / 2; by > 0; by /= 2)
        mine += __shfl_down(mine, by);
    const unsigned lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
    if (lane == 0)
        parts[wave] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned i = 1; i < blockDim.x / warpSize; ++i)
            mine += parts[i];
        atomicAdd(&total, mine);
    }
}

int main() {
    std::vector<unsigned> x(100003);
    unsigned long long expected = 0, got = 0;
    for (size_t i = 0; i < x.size(); ++i)
        expected += x[i] = static_cast<unsigned>(i * 2654435761u);
    const OnDevice<unsigned> device(x);
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(total), &got, sizeof got));
    hipLaunchKernelGGL(sum, dim3(13), dim3(256), 0, nullptr, device.data, x.size());
    CHECK(hipMemcpyFromSymbol(&got, HIP_SYMBOL(total), sizeof got));
    return judge(got != expected);
}

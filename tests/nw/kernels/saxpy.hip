// SPDX-License-Identifier: MIT
// The example of README.md: thread n is one too many.
#include <hip/hip_runtime.h>
#include <vector>

__device__ float scaled(const float *x, float a, int i) { return a * x[i]; }

__global__ void saxpy(float *y, const float *x, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        y[i] = scaled(x, a, i) + y[i];
}

int main() {
    const int n = 1000, bytes = n * sizeof(float);
    std::vector<float> ones(n, 1.0f);
    float *x, *y;
    hipMalloc(&x, bytes);
    hipMalloc(&y, bytes);
    hipMemcpy(x, ones.data(), bytes, hipMemcpyHostToDevice);
    hipMemcpy(y, ones.data(), bytes, hipMemcpyHostToDevice);
    saxpy<<<4, 256>>>(y, x, 2.0f, n);
    return hipDeviceSynchronize() != hipSuccess;
}

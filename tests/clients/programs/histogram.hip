// SPDX-License-Identifier: MIT
// A histogram: atomics in dynamic LDS, __constant__ limits of the bins, a templated kernel.
#include "check.h"

constexpr int BINS = 10;
__constant__ float limits[BINS + 1];

template <class T> __global__ void histogram(const T *x, int n, unsigned *bins) {
    extern __shared__ unsigned own[];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        for (int bin = 0; bin < BINS; ++bin)
            if (x[i] >= limits[bin] && x[i] < limits[bin + 1])
                atomicAdd(&own[bin], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        atomicAdd(&bins[i], own[i]);
}

template <class T> size_t wrong_of(const std::vector<float> &edges) {
    std::vector<T> x(3000);
    std::vector<unsigned> expected(BINS);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<T>(i * 37 % 1001) / static_cast<T>(10);
        for (int bin = 0; bin < BINS; ++bin)
            expected[bin] += x[i] >= edges[bin] && x[i] < edges[bin + 1];
    }
    const OnDevice<T> device(x);
    const OnDevice<unsigned> bins(std::vector<unsigned>(BINS, 0));
    histogram<T><<<5, 128, BINS * sizeof(unsigned)>>>(device.data, static_cast<int>(x.size()), bins.data);
    CHECK(hipGetLastError());
    size_t wrong = 0;
    const std::vector<unsigned> got = bins.values();
    for (int bin = 0; bin < BINS; ++bin)
        wrong += got[bin] != expected[bin];
    return wrong;
}

int main() {
    std::vector<float> edges(BINS + 1);
    for (int i = 0; i <= BINS; ++i)
        edges[i] = static_cast<float>(i * i);
    CHECK(hipMemcpyToSymbol(HIP_SYMBOL(limits), edges.data(), sizeof limits));
    return judge(wrong_of<float>(edges) + wrong_of<double>(edges) + wrong_of<int>(edges));
}

// SPDX-License-Identifier: MIT
// Two streams that take turns by events, host memory that is pinned, a callback, and the same work as a graph.
#include "check.h"

__global__ void step(int *x, int n, int factor, int add) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] * factor + add;
}

static void count(void *counter) { ++*static_cast<int *>(counter); }

int main() {
    const int n = 5000, blocks = (n + 255) / 256;
    int *host = nullptr, *device = nullptr, calls = 0;
    CHECK(hipHostMalloc(reinterpret_cast<void **>(&host), n * sizeof(int), hipHostMallocDefault));
    CHECK(hipMalloc(&device, n * sizeof(int)));
    hipStream_t first, second;
    CHECK(hipStreamCreate(&first));
    CHECK(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
    hipEvent_t copied, done;
    CHECK(hipEventCreate(&copied));
    CHECK(hipEventCreate(&done));
    for (int i = 0; i < n; ++i)
        host[i] = i;
    CHECK(hipMemcpyAsync(device, host, n * sizeof(int), hipMemcpyHostToDevice, first));
    CHECK(hipEventRecord(copied, first));
    CHECK(hipStreamWaitEvent(second, copied, 0));
    step<<<blocks, 256, 0, second>>>(device, n, 3, 1);
    CHECK(hipEventRecord(done, second));
    CHECK(hipStreamWaitEvent(first, done, 0));
    CHECK(hipLaunchHostFunc(first, count, &calls));
    hipGraph_t graph;
    hipGraphExec_t executable;
    CHECK(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal));
    step<<<blocks, 256, 0, first>>>(device, n, 2, 0);
    step<<<blocks, 256, 0, first>>>(device, n, 1, 5);
    CHECK(hipStreamEndCapture(first, &graph));
    CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 2; ++i)
        CHECK(hipGraphLaunch(executable, first));
    CHECK(hipMemcpyAsync(host, device, n * sizeof(int), hipMemcpyDeviceToHost, first));
    CHECK(hipStreamSynchronize(first));
    size_t wrong = calls != 1;
    for (int i = 0; i < n; ++i)
        wrong += host[i] != ((3 * i + 1) * 2 + 5) * 2 + 5;
    float ms = -1;
    CHECK(hipEventElapsedTime(&ms, copied, done));
    wrong += !(ms > 0);
    CHECK(hipGraphExecDestroy(executable));
    CHECK(hipGraphDestroy(graph));
    CHECK(hipStreamDestroy(first));
    CHECK(hipStreamDestroy(second));
    CHECK(hipFree(device));
    CHECK(hipHostFree(host));
    return judge(wrong);
}

/* SPDX-License-Identifier: MIT
   A HIP host in plain C, for the headers of any HIP since 5.2: what these changed between versions
   is used as they say. Prints one JSON object; ends with 1 at the first surprise.

   usage: version_host FILE.hsaco */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int line_of_failure(int line, const char *what, hipError_t error) {
    fprintf(stderr, "line %d: %s: %s\n", line, what, hipGetErrorName(error));
    exit(1);
}
#define MUST(call)                                                                                 \
    do {                                                                                           \
        hipError_t error_ = (call);                                                                \
        if (error_ != hipSuccess)                                                                  \
            line_of_failure(__LINE__, #call, error_);                                              \
    } while (0)
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            line_of_failure(__LINE__, #condition, hipSuccess);                                     \
    } while (0)

enum { n = 64 };
static int *out, *copy, got[n];

static void check_iota(int first) {
    for (int i = 0; i < n; ++i)
        CHECK(got[i] == first + i);
}

/* hipMemoryType was renumbered in HIP 6. */
static void check_pointers(void) {
    int on_stack;
    hipPointerAttribute_t attributes;
    memset(&attributes, 0x55, sizeof attributes);
    MUST(hipPointerGetAttributes(&attributes, out));
#if HIP_VERSION_MAJOR >= 6
    CHECK(attributes.type == hipMemoryTypeDevice);
    MUST(hipPointerGetAttributes(&attributes, &on_stack));
    CHECK(attributes.type == hipMemoryTypeUnregistered);
#else
    CHECK(attributes.memoryType == hipMemoryTypeDevice);
    CHECK(hipPointerGetAttributes(&attributes, &on_stack) == hipErrorInvalidValue);
#endif
}

/* HIP_MEMCPY3D became wider in HIP 6. */
static void check_driver_copy(void) {
    HIP_MEMCPY3D params;
    memset(&params, 0, sizeof params);
    params.srcMemoryType = hipMemoryTypeDevice;
    params.srcDevice = out;
    params.dstMemoryType = hipMemoryTypeHost;
    params.dstHost = got;
    params.WidthInBytes = 16;
    params.Height = n / 8;
    params.Depth = 2;
    params.srcPitch = params.dstPitch = 16;
    params.srcHeight = params.dstHeight = n / 8;
    memset(got, 0, sizeof got);
    MUST(hipDrvMemcpy3D(&params));
    check_iota(40);
}

/* A graph by capture, and its nodes by the header's numbers. Those of 5.2 are not those of 5.3. */
static void check_graph(hipFunction_t iota) {
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    int first = 90, count = n;
    void *params[] = {&out, &first, &count};
    MUST(hipStreamCreate(&stream));
    MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    MUST(hipModuleLaunchKernel(iota, 1, 1, 1, n, 1, 1, 0, stream, params, NULL));
    MUST(hipMemcpyAsync(copy, out, sizeof got, hipMemcpyDeviceToDevice, stream));
    MUST(hipStreamEndCapture(stream, &graph));
    hipGraphNode_t root;
    hipGraphNodeType type;
    size_t roots = 1;
    MUST(hipGraphGetRootNodes(graph, &root, &roots));
    MUST(hipGraphNodeGetType(root, &type));
#if HIP_VERSION >= 50300000
    CHECK(type == hipGraphNodeTypeKernel);
#endif
    MUST(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
    MUST(hipGraphLaunch(exec, stream));
    MUST(hipStreamSynchronize(stream));
    MUST(hipMemcpy(got, copy, sizeof got, hipMemcpyDeviceToHost));
    check_iota(90);
    MUST(hipGraphExecDestroy(exec));
    MUST(hipGraphDestroy(graph));
    MUST(hipStreamDestroy(stream));
}

/* A pool with the header's properties, and memory in stream order. */
static void check_pool(void) {
    hipMemPoolProps props;
    hipMemPool_t pool;
    void *data;
    memset(&props, 0, sizeof props);
    props.allocType = hipMemAllocationTypePinned;
    props.location.type = hipMemLocationTypeDevice;
#if HIP_VERSION_MAJOR >= 6
    props.maxSize = 4096;
#endif
    MUST(hipMemPoolCreate(&pool, &props));
#if HIP_VERSION_MAJOR >= 6
    CHECK(hipMallocFromPoolAsync(&data, 8192, pool, NULL) == hipErrorOutOfMemory);
#endif
    MUST(hipMallocFromPoolAsync(&data, 4096, pool, NULL));
    MUST(hipFreeAsync(data, NULL));
    MUST(hipDeviceSynchronize());
    MUST(hipMemPoolDestroy(pool));
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    hipDeviceProp_t prop;
    hipModule_t module;
    hipFunction_t iota;
    int first = 40, count = n, version;
    memset(&prop, 0x55, sizeof prop);
    MUST(hipInit(0));
    MUST(hipGetDeviceProperties(&prop, 0));
    MUST(hipRuntimeGetVersion(&version));
    MUST(hipMalloc((void **)&out, sizeof got));
    MUST(hipMalloc((void **)&copy, sizeof got));
    MUST(hipModuleLoad(&module, argv[1]));
    MUST(hipModuleGetFunction(&iota, module, "iota"));
    void *params[] = {&out, &first, &count};
    MUST(hipModuleLaunchKernel(iota, 1, 1, 1, n, 1, 1, 0, NULL, params, NULL));
    MUST(hipMemcpyAsync(got, out, sizeof got, hipMemcpyDeviceToHost, NULL));
    MUST(hipStreamSynchronize(NULL));
    check_iota(40);
    check_pointers();
    check_driver_copy();
    check_graph(iota);
    check_pool();
    MUST(hipModuleUnload(module));
    MUST(hipFree(out));
    MUST(hipFree(copy));
    printf("{\"headers\": %d, \"runtime\": %d, \"prop_bytes\": %d, \"name\": \"%s\", \"arch\": "
           "\"%s\", "
           "\"warp\": %d, \"multiprocessors\": %d, \"l2\": %d, \"lds\": %d, \"cooperative\": %d, "
           "\"major\": %d, \"minor\": %d, \"managed\": %d, \"large_bar\": %d}\n",
           HIP_VERSION, version, (int)sizeof prop, prop.name, prop.gcnArchName, prop.warpSize,
           prop.multiProcessorCount, prop.l2CacheSize, (int)prop.sharedMemPerBlock,
           prop.cooperativeLaunch, prop.major, prop.minor, prop.managedMemory, prop.isLargeBar);
    return 0;
}

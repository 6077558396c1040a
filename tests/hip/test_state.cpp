// SPDX-License-Identifier: MIT
// Contexts, settings and identities of devices; forms for a default stream per thread; what is
// missing.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "hip/common.h"

using namespace hip_test;

#define NEWER(name, symbol, ...) extern "C" hipError_t name(__VA_ARGS__) asm(symbol)
NEWER(set_limit, "hipDeviceSetLimit", int, std::size_t);
NEWER(copy_own, "hipMemcpy_spt", void *, const void *, std::size_t, hipMemcpyKind);
NEWER(copy_async_own, "hipMemcpyAsync_spt", void *, const void *, std::size_t, hipMemcpyKind,
      hipStream_t);
NEWER(fill_own, "hipMemset_spt", void *, int, std::size_t);
NEWER(fill_async_own, "hipMemsetAsync_spt", void *, int, std::size_t, hipStream_t);
NEWER(query_own, "hipStreamQuery_spt", hipStream_t);
NEWER(synchronize_own, "hipStreamSynchronize_spt", hipStream_t);
NEWER(record_own, "hipEventRecord_spt", hipEvent_t, hipStream_t);
NEWER(begin_own, "hipStreamBeginCapture_spt", hipStream_t, hipStreamCaptureMode);
NEWER(end_own, "hipStreamEndCapture_spt", hipStream_t, hipGraph_t *);
NEWER(get_proc_address, "hipGetProcAddress", const char *, void **, int, unsigned long long, int *);
NEWER(driver_entry_point, "hipGetDriverEntryPoint", const char *, void **, unsigned long long,
      int *);
#undef NEWER

TEST_CASE("contexts are devices, on a stack per thread") {
    hipCtx_t first = nullptr, second = nullptr, top = nullptr;
    int device = -1;
    OK(hipCtxGetCurrent(&first));
    OK(hipCtxCreate(&second, hipDeviceMapHost | hipDeviceScheduleYield, 1));
    CHECK(second != first);
    unsigned flags = 0;
    OK(hipGetDeviceFlags(&flags));
    CHECK_EQ(flags, hipDeviceMapHost | hipDeviceScheduleYield);
    OK(hipSetDeviceFlags(hipDeviceMapHost)); // of these, only how to wait is kept
    OK(hipGetDeviceFlags(&flags));
    CHECK_EQ(flags, hipDeviceScheduleAuto);
    OK(hipCtxGetDevice(&device));
    CHECK_EQ(device, 1);
    OK(hipCtxPushCurrent(first));
    OK(hipGetDevice(&device));
    CHECK_EQ(device, 0);
    OK(hipCtxPopCurrent(&top));
    CHECK_EQ(top, first);
    OK(hipCtxSynchronize());
    std::thread([&] {
        int other = -1;
        CHECK_EQ(hipGetDevice(&other), hipSuccess);
        CHECK_EQ(other, 0);
        CHECK_EQ(hipCtxPopCurrent(nullptr), hipErrorInvalidContext);
    }).join();
    OK(hipCtxDestroy(second));
    OK(hipGetDevice(&device));
    CHECK_EQ(device, 0);
    FAILS(hipCtxPopCurrent(&top), hipErrorInvalidContext);
    FAILS(hipCtxPushCurrent(reinterpret_cast<hipCtx_t>(&top)), hipErrorInvalidContext);
    FAILS(hipCtxCreate(nullptr, 0, 0), hipErrorInvalidValue);
    FAILS(hipCtxCreate(&top, 0, 5), hipErrorInvalidDevice);
    int active = 9;
    OK(hipDevicePrimaryCtxGetState(1, &flags, &active));
    CHECK_EQ(active, 0);
}

TEST_CASE("settings of a device are kept") {
    unsigned flags = 9;
    OK(hipSetDeviceFlags(hipDeviceScheduleYield));
    OK(hipGetDeviceFlags(&flags));
    CHECK_EQ(flags, hipDeviceScheduleYield);
    FAILS(hipSetDeviceFlags(hipDeviceScheduleSpin | hipDeviceScheduleYield), hipErrorInvalidValue);
    hipFuncCache_t cache{};
    OK(hipDeviceSetCacheConfig(hipFuncCachePreferL1));
    OK(hipDeviceGetCacheConfig(&cache));
    CHECK_EQ(cache, hipFuncCachePreferL1);
    FAILS(hipDeviceSetCacheConfig(static_cast<hipFuncCache_t>(9)), hipErrorInvalidValue);
    std::size_t bytes = 0;
    OK(set_limit(hipLimitMallocHeapSize, 12345));
    OK(hipDeviceGetLimit(&bytes, hipLimitMallocHeapSize));
    CHECK_EQ(bytes, 12345);
    FAILS(hipDeviceGetLimit(&bytes, static_cast<hipLimit_t>(77)), hipErrorUnsupportedLimit);
    FAILS(hipDeviceGetLimit(nullptr, hipLimitMallocHeapSize), hipErrorInvalidValue);
    OK(hipDeviceReset());
    OK(hipGetDeviceFlags(&flags));
    CHECK_EQ(flags, 0);
}

TEST_CASE("a reset frees what the device holds, and only that") {
    OK(hipSetDevice(1));
    void *far = nullptr, *near = nullptr;
    OK(hipMalloc(&far, 64));
    OK(hipSetDevice(0));
    OK(hipMalloc(&near, 64));
    OK(hipDeviceReset());
    FAILS(hipFree(near), hipErrorInvalidValue);
    OK(hipFree(far));
}

TEST_CASE("devices by their bus, and by wish") {
    char id[32] = "";
    int device = -1;
    OK(hipDeviceGetPCIBusId(id, sizeof id, 1));
    OK(hipDeviceGetByPCIBusId(&device, id));
    CHECK_EQ(device, 1);
    id[5] = 1;
    FAILS(hipDeviceGetPCIBusId(id, 5, 1), hipErrorInvalidValue);
    CHECK_EQ(std::string(id), "0000"); // what there is room for
    CHECK_EQ(id[5], 1);
    FAILS(hipDeviceGetByPCIBusId(&device, "0000:99:00.0"), hipErrorInvalidValue);
    hipUUID first{}, second{};
    OK(hipDeviceGetUuid(&first, 0));
    OK(hipDeviceGetUuid(&second, 1));
    CHECK(std::memcmp(&first, &second, sizeof first) != 0);
    hipDeviceProp_t wish{};
    wish.multiProcessorCount = 40; // gfx1100 has 48, gfx1151 has 20
    OK(hipChooseDevice(&device, &wish));
    CHECK_EQ(device, 1);
    int major = 0, minor = 0;
    OK(hipDeviceComputeCapability(&major, &minor, 0));
    CHECK_EQ(major * 10 + minor, 115);
}

TEST_CASE("without a stream, the thread's own: not held up by the null stream's neighbours") {
    Code code;
    Ints word(1, 0), target(2, 0);
    OwnStream other(hipStreamNonBlocking);
    Held held(code, other, word.data);
    const int values[] = {4, 5};
    OK(copy_own(target.data, values, 8, hipMemcpyHostToDevice));
    int seen[2] = {};
    OK(copy_async_own(seen, target.data, 8, hipMemcpyDeviceToHost, nullptr));
    OK(synchronize_own(nullptr));
    CHECK_EQ(seen[1], 5);
    OK(fill_own(target.data, 0, 4));
    OK(fill_async_own(target.data + 1, 0, 4, nullptr));
    OwnEvent event;
    OK(record_own(event, nullptr));
    OK(hipEventSynchronize(event));
    OK(query_own(nullptr));
    FAILS(query_own(other), hipErrorNotReady);
    hipGraph_t graph = nullptr;
    OK(begin_own(nullptr, hipStreamCaptureModeThreadLocal)); // the null stream could not
    OK(fill_async_own(target.data, 1, 4, nullptr));
    OK(end_own(nullptr, &graph));
    std::size_t count = 0;
    OK(hipGraphGetNodes(graph, nullptr, &count));
    CHECK_EQ(count, 1);
    OK(hipGraphDestroy(graph));
    held.release();
    CHECK(target.get() == std::vector<int>(2, 0));
}

TEST_CASE("addresses by name, and forms for a default stream per thread") {
    void *plain = nullptr, *own = nullptr;
    int result = 9;
    OK(get_proc_address("hipMemcpyAsync", &plain, 60200000, 0, &result));
    OK(driver_entry_point("hipMemcpyAsync", &own, 2, &result)); // per thread
    CHECK(plain != own);
    CHECK_EQ(own, reinterpret_cast<void *>(&copy_async_own));
    OK(driver_entry_point("hipMalloc", &own, 2, &result)); // has none
    FAILS(driver_entry_point("hipNothing", &own, 0, &result), hipErrorInvalidValue);
    CHECK_EQ(result, 1);
    CHECK_EQ(own, nullptr);
}

TEST_CASE("what is missing fails, and says its name") {
    CapturedStderr said;
    hipExternalSemaphore_t semaphore = nullptr;
    const hipExternalSemaphoreHandleDesc handle = {};
    FAILS(hipImportExternalSemaphore(&semaphore, nullptr), hipErrorInvalidValue);
    FAILS(hipImportExternalSemaphore(&semaphore, &handle), hipErrorNotSupported);
    FAILS(hipPeekAtLastError(), hipErrorNotSupported);
    int word = 0;
    const auto array = reinterpret_cast<hipMipmappedArray_t>(&word);
    FAILS(hipFreeMipmappedArray(nullptr), hipErrorInvalidValue);
    FAILS(hipFreeMipmappedArray(array), hipErrorNotSupported);
    FAILS(hipProfilerStart(), hipErrorNotSupported);
    const std::string text = said.text();
    for (const char *name :
         {"hipImportExternalSemaphore", "hipFreeMipmappedArray", "hipProfilerStart"})
        CHECK(text.find("hipsim: " + std::string(name) +
                        " is not supported by the simulated GPU\n") != std::string::npos);
    void *address = nullptr;
    OK(get_proc_address("hipIpcGetMemHandle", &address, 60200000, 0, nullptr));
}

TEST_CASE("a child that was forked after the first HIP call gets a clear error") {
    OK(hipDeviceSynchronize());
    CapturedStderr said;
    std::fflush(nullptr);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(20); // an exit that waits for the parent's threads would never end
        void *memory = nullptr;
        std::exit(hipMalloc(&memory, 4) == hipErrorNotInitialized ? 0 : 1);
    }
    int status = -1;
    REQUIRE_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    CHECK(said.text().find("forked") != std::string::npos);
    void *memory = nullptr; // the parent goes on
    OK(hipMalloc(&memory, 4));
    OK(hipFree(memory));
}

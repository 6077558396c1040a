// SPDX-License-Identifier: MIT
// The forms for a default stream per thread: where no stream is named, they mean the thread's own,
// and are not held up by work in others.
#include <cstring>

#include "hip/graphs.h"

using namespace hip_test;

#define OWN(name, ...) extern "C" hipError_t own_##name(__VA_ARGS__) asm(#name "_spt")
OWN(hipMemcpy2D, void *, std::size_t, const void *, std::size_t, std::size_t, std::size_t,
    hipMemcpyKind);
OWN(hipMemcpy2DAsync, void *, std::size_t, const void *, std::size_t, std::size_t, std::size_t,
    hipMemcpyKind, hipStream_t);
OWN(hipMemcpy3D, const hipMemcpy3DParms *);
OWN(hipMemcpy3DAsync, const hipMemcpy3DParms *, hipStream_t);
OWN(hipMemset2D, void *, std::size_t, int, std::size_t, std::size_t);
OWN(hipMemset2DAsync, void *, std::size_t, int, std::size_t, std::size_t, hipStream_t);
OWN(hipMemset3D, hipPitchedPtr, int, hipExtent);
OWN(hipMemset3DAsync, hipPitchedPtr, int, hipExtent, hipStream_t);
OWN(hipStreamSynchronize, hipStream_t);
OWN(hipStreamGetFlags, hipStream_t, unsigned *);
OWN(hipStreamGetPriority, hipStream_t, int *);
OWN(hipStreamWaitEvent, hipStream_t, hipEvent_t, unsigned);
OWN(hipStreamAddCallback, hipStream_t, hipStreamCallback_t, void *, unsigned);
OWN(hipLaunchHostFunc, hipStream_t, hipHostFn_t, void *);
OWN(hipStreamBeginCapture, hipStream_t, hipStreamCaptureMode);
OWN(hipStreamEndCapture, hipStream_t, hipGraph_t *);
OWN(hipStreamIsCapturing, hipStream_t, hipStreamCaptureStatus *);
OWN(hipStreamGetCaptureInfo, hipStream_t, hipStreamCaptureStatus *, unsigned long long *);
OWN(hipStreamGetCaptureInfo_v2, hipStream_t, hipStreamCaptureStatus *, unsigned long long *,
    hipGraph_t *, const hipGraphNode_t **, std::size_t *);
#undef OWN
extern "C" hipError_t entry_point_own(const char *, void **, unsigned long long,
                                      int *) asm("hipGetDriverEntryPoint_spt");

namespace {

// A stream that works on something for as long as the object lives.
struct Busy {
    Code code;
    Ints word{1, 0};
    OwnStream stream{hipStreamNonBlocking};
    Held held{code, stream, word.data};
};

hipMemcpy3DParms box(void *to, const void *from, hipMemcpyKind kind) {
    hipMemcpy3DParms params{};
    params.dstPtr = {to, 8, 8, 2};
    params.srcPtr = {const_cast<void *>(from), 8, 8, 2};
    params.extent = {8, 2, 1};
    params.kind = kind;
    return params;
}

} // namespace

TEST_CASE("copies of rows and boxes") {
    Ints target(4, 0);
    Busy busy;
    const int values[] = {1, 2, 3, 4};
    int seen[4] = {};
    SUBCASE("rows") {
        OK(own_hipMemcpy2D(target.data, 8, values, 8, 8, 2, hipMemcpyHostToDevice));
        OK(own_hipMemcpy2D(seen, 8, target.data, 8, 8, 2, hipMemcpyDeviceToHost));
    }
    SUBCASE("rows in order with the stream") {
        OK(own_hipMemcpy2DAsync(target.data, 8, values, 8, 8, 2, hipMemcpyHostToDevice, nullptr));
        OK(own_hipMemcpy2DAsync(seen, 8, target.data, 8, 8, 2, hipMemcpyDeviceToHost, nullptr));
        OK(own_hipStreamSynchronize(nullptr));
    }
    SUBCASE("a box") {
        const auto there = box(target.data, values, hipMemcpyHostToDevice);
        const auto back = box(seen, target.data, hipMemcpyDeviceToHost);
        OK(own_hipMemcpy3D(&there));
        OK(own_hipMemcpy3D(&back));
    }
    SUBCASE("a box in order with the stream") {
        const auto there = box(target.data, values, hipMemcpyHostToDevice);
        const auto back = box(seen, target.data, hipMemcpyDeviceToHost);
        OK(own_hipMemcpy3DAsync(&there, nullptr));
        OK(own_hipMemcpy3DAsync(&back, nullptr));
        OK(own_hipStreamSynchronize(nullptr));
    }
    CHECK_EQ(std::memcmp(seen, values, sizeof seen), 0);
    FAILS(hipStreamQuery(busy.stream), hipErrorNotReady); // nothing waited for it
    FAILS(own_hipMemcpy3D(nullptr), hipErrorInvalidValue);
    FAILS(own_hipMemcpy2D(seen, 4, target.data, 8, 8, 2, hipMemcpyDeviceToHost),
          hipErrorInvalidPitchValue);
}

TEST_CASE("fills of rows and boxes") {
    Ints target(4, 0);
    Busy busy;
    const hipPitchedPtr place{target.data, 8, 8, 2};
    SUBCASE("rows") { OK(own_hipMemset2D(target.data, 8, 1, 4, 2)); }
    SUBCASE("rows in order with the stream") {
        OK(own_hipMemset2DAsync(target.data, 8, 1, 4, 2, nullptr));
        OK(own_hipStreamSynchronize(nullptr));
    }
    SUBCASE("a box") { OK(own_hipMemset3D(place, 1, {4, 2, 1})); }
    SUBCASE("a box in order with the stream") {
        OK(own_hipMemset3DAsync(place, 1, {4, 2, 1}, nullptr));
        OK(own_hipStreamSynchronize(nullptr));
    }
    FAILS(hipStreamQuery(busy.stream), hipErrorNotReady);
    busy.held.release();
    CHECK(target.get() == std::vector<int>{0x01010101, 0, 0x01010101, 0});
    FAILS(own_hipMemset2D(target.data, 8, 1, 64, 2), hipErrorInvalidValue);
}

TEST_CASE("questions about the thread's own stream") {
    unsigned flags = 9;
    int priority = 9;
    OK(own_hipStreamGetFlags(nullptr, &flags));
    CHECK_EQ(flags, hipStreamDefault);
    OK(own_hipStreamGetPriority(nullptr, &priority));
    CHECK_EQ(priority, 0);
    FAILS(own_hipStreamGetFlags(nullptr, nullptr), hipErrorInvalidValue);
    OwnStream other(hipStreamNonBlocking);
    OK(own_hipStreamGetFlags(other, &flags)); // a stream that is named is itself
    CHECK_EQ(flags, hipStreamNonBlocking);
    void *address = nullptr;
    OK(entry_point_own("hipStreamGetFlags", &address, 0, nullptr));
    CHECK_EQ(address, reinterpret_cast<void *>(&own_hipStreamGetFlags));
}

TEST_CASE("the thread's own stream waits for an event, and calls the host in order") {
    Busy busy;
    OwnEvent event;
    OK(hipEventRecord(event, busy.stream));
    OK(own_hipStreamWaitEvent(nullptr, event, 0));
    static std::atomic<int> calls;
    int four = 4;
    calls = 0;
    OK(own_hipLaunchHostFunc(
        nullptr, [](void *data) { calls = *static_cast<int *>(data); }, &four));
    OK(own_hipStreamAddCallback(
        nullptr,
        [](hipStream_t, hipError_t status, void *data) {
            calls = calls * 10 + static_cast<int>(status) + *static_cast<int *>(data);
        },
        &four, 0));
    FAILS(hipStreamQuery(hipStreamPerThread), hipErrorNotReady);
    CHECK_EQ(calls, 0);
    busy.held.release();
    OK(own_hipStreamSynchronize(nullptr));
    CHECK_EQ(calls, 44);
    FAILS(own_hipLaunchHostFunc(nullptr, nullptr, nullptr), hipErrorInvalidValue);
}

TEST_CASE("asking about a capture of the thread's own stream") {
    Ints word(1, 0);
    hipStreamCaptureStatus status{};
    unsigned long long id = 0, again = 0;
    hipGraph_t graph = nullptr, seen = nullptr;
    const hipGraphNode_t *last = nullptr;
    std::size_t count = 9;
    OK(own_hipStreamIsCapturing(nullptr, &status));
    CHECK_EQ(status, hipStreamCaptureStatusNone);
    OK(own_hipStreamBeginCapture(nullptr, hipStreamCaptureModeThreadLocal));
    OK(hipMemsetD32Async(word.data, 3, 1, hipStreamPerThread));
    OK(own_hipStreamIsCapturing(nullptr, &status));
    CHECK_EQ(status, hipStreamCaptureStatusActive);
    OK(own_hipStreamGetCaptureInfo(nullptr, &status, &id));
    OK(own_hipStreamGetCaptureInfo_v2(nullptr, &status, &again, &seen, &last, &count));
    CHECK_EQ(id, again);
    CHECK_EQ(count, 1);
    OK(own_hipStreamEndCapture(nullptr, &graph));
    CHECK_EQ(seen, graph);
    OwnExec(OwnGraph(graph)).run();
    CHECK_EQ(word.get()[0], 3);
}

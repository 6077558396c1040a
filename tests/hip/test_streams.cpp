// SPDX-License-Identifier: MIT
// Streams and events: what waits for what. `spin` adds 1 to a word after a while, so that a command
// that did not wait is seen.
#include <atomic>
#include <thread>

#include "hip/common.h"

using namespace hip_test;

namespace {

constexpr int turns = 300'000;

struct OwnStream {
    explicit OwnStream(unsigned flags = hipStreamDefault) {
        OK(hipStreamCreateWithFlags(&handle, flags));
    }
    ~OwnStream() { static_cast<void>(hipStreamDestroy(handle)); }
    operator hipStream_t() const { return handle; }
    hipStream_t handle = nullptr;
};

struct OwnEvent {
    explicit OwnEvent(unsigned flags = hipEventDefault) {
        OK(hipEventCreateWithFlags(&handle, flags));
    }
    ~OwnEvent() { static_cast<void>(hipEventDestroy(handle)); }
    operator hipEvent_t() const { return handle; }
    hipEvent_t handle = nullptr;
};

} // namespace

TEST_CASE("a launch returns before the kernel ends; query and synchronize tell") {
    Code code;
    Ints word(1, 0);
    OwnStream stream;
    OK(launch(code["spin"], 1, stream, word.data, turns));
    FAILS(hipStreamQuery(stream), hipErrorNotReady);
    OK(hipStreamSynchronize(stream));
    OK(hipStreamQuery(stream));
    CHECK_EQ(word.get()[0], 1);
}

TEST_CASE("a stream is in order") {
    Code code;
    Ints word(1, 0);
    OwnStream stream;
    for (int i = 0; i < 3; ++i) {
        OK(launch(code["spin"], 1, stream, word.data, turns / 10));
        OK(launch(code["increment"], 1, stream, word.data));
    }
    int value = 0;
    OK(hipMemcpyAsync(&value, word.data, 4, hipMemcpyDeviceToHost, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(value, 6);
}

TEST_CASE("the null stream waits for blocking streams, and they for it") {
    Code code;
    Ints word(1, 0), copy(1, -1);
    OwnStream stream;
    OK(launch(code["spin"], 1, stream, word.data, turns));
    OK(hipMemcpyAsync(copy.data, word.data, 4, hipMemcpyDeviceToDevice, nullptr));
    OK(launch(code["spin"], 1, nullptr, copy.data, turns));
    OK(hipMemcpyAsync(word.data, copy.data, 4, hipMemcpyDeviceToDevice, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(word.get()[0], 2);
}

TEST_CASE("a non-blocking stream waits for nobody") {
    Code code;
    Ints slow(1, 0), quick(1, 0);
    OwnStream stream(hipStreamNonBlocking);
    OK(launch(code["spin"], 1, nullptr, slow.data, turns));
    OK(launch(code["increment"], 1, stream, quick.data));
    OK(hipStreamSynchronize(stream));
    FAILS(hipStreamQuery(nullptr), hipErrorNotReady);
    OK(hipDeviceSynchronize());
    CHECK_EQ(slow.get()[0], 1);
    CHECK_EQ(quick.get()[0], 1);
}

TEST_CASE("hipStreamWaitEvent orders two streams") {
    Code code;
    Ints word(1, 0), copy(1, -1);
    OwnStream first(hipStreamNonBlocking), second(hipStreamNonBlocking);
    OwnEvent event;
    OK(launch(code["spin"], 1, first, word.data, turns));
    OK(hipEventRecord(event, first));
    FAILS(hipEventQuery(event), hipErrorNotReady);
    OK(hipStreamWaitEvent(second, event, 0));
    OK(hipMemcpyAsync(copy.data, word.data, 4, hipMemcpyDeviceToDevice, second));
    OK(hipStreamSynchronize(second));
    CHECK_EQ(copy.get()[0], 1);
    OK(hipEventQuery(event));
}

TEST_CASE("an event means its last recording") {
    Code code;
    Ints word(1, 0);
    OwnStream stream;
    OwnEvent event;
    OK(hipEventQuery(event)); // never recorded: done
    OK(hipEventSynchronize(event));
    OK(hipStreamWaitEvent(stream, event, 0));
    OK(hipEventRecord(event, stream));
    OK(launch(code["spin"], 1, stream, word.data, turns));
    OK(hipEventRecord(event, stream));
    OK(hipEventSynchronize(event));
    CHECK_EQ(word.get()[0], 1);
}

TEST_CASE("elapsed time is 0: there is no modelled time yet") {
    Code code;
    Ints word(1, 0);
    OwnEvent start, stop, untimed(hipEventDisableTiming), never;
    float ms = -1;
    OK(hipEventRecord(start, nullptr));
    OK(launch(code["spin"], 1, nullptr, word.data, turns));
    OK(hipEventRecord(stop, nullptr));
    FAILS(hipEventElapsedTime(&ms, start, stop), hipErrorNotReady);
    OK(hipEventSynchronize(stop));
    OK(hipEventElapsedTime(&ms, start, stop));
    CHECK_EQ(ms, 0.0f);
    FAILS(hipEventElapsedTime(nullptr, start, stop), hipErrorInvalidValue);
    FAILS(hipEventElapsedTime(&ms, start, never), hipErrorInvalidHandle);
    OK(hipEventRecord(untimed, nullptr));
    OK(hipEventSynchronize(untimed));
    FAILS(hipEventElapsedTime(&ms, start, untimed), hipErrorInvalidHandle);
}

TEST_CASE("misuse of streams") {
    hipStream_t stream = nullptr;
    FAILS(hipStreamCreate(nullptr), hipErrorInvalidValue);
    FAILS(hipStreamCreateWithFlags(&stream, 0x80), hipErrorInvalidValue);
    FAILS(hipStreamDestroy(nullptr), hipErrorInvalidHandle);
    OK(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -1));
    unsigned flags = 9;
    OK(hipStreamGetFlags(stream, &flags));
    CHECK_EQ(flags, hipStreamNonBlocking);
    OK(hipStreamDestroy(stream));
    FAILS(hipStreamDestroy(stream), hipErrorInvalidHandle);
    FAILS(hipStreamSynchronize(stream), hipErrorInvalidHandle);
    FAILS(hipStreamQuery(stream), hipErrorInvalidHandle);
    FAILS(hipStreamWaitEvent(stream, nullptr, 0), hipErrorInvalidHandle);
    int value = 0;
    FAILS(hipMemcpyAsync(&value, &value, 4, hipMemcpyDefault, stream), hipErrorInvalidHandle);
    FAILS(hipStreamSynchronize(reinterpret_cast<hipStream_t>(&value)), hipErrorInvalidHandle);
}

TEST_CASE("misuse of events") {
    hipEvent_t event = nullptr;
    FAILS(hipEventCreate(nullptr), hipErrorInvalidValue);
    FAILS(hipEventCreateWithFlags(&event, 0x1000), hipErrorInvalidValue);
    FAILS(hipEventCreateWithFlags(&event, hipEventReleaseToDevice | hipEventReleaseToSystem),
          hipErrorInvalidValue);
    FAILS(hipEventDestroy(nullptr), hipErrorInvalidValue);
    FAILS(hipEventRecord(nullptr, nullptr), hipErrorInvalidHandle);
    OK(hipEventCreate(&event));
    OK(hipEventDestroy(event));
    FAILS(hipEventDestroy(event), hipErrorInvalidHandle);
    FAILS(hipEventRecord(event, nullptr), hipErrorInvalidHandle);
    FAILS(hipEventQuery(event), hipErrorInvalidHandle);
}

TEST_CASE("destroying a stream waits for its work") {
    Code code;
    Ints word(1, 0);
    hipStream_t stream = nullptr;
    OK(hipStreamCreate(&stream));
    OK(launch(code["spin"], 1, stream, word.data, turns));
    OK(hipStreamDestroy(stream));
    CHECK_EQ(word.get()[0], 1);
}

TEST_CASE("a destroyed stream's fault is not lost") {
    Code code;
    Ints out(1, 0);
    int *null = nullptr;
    CapturedStderr said;
    hipStream_t stream = nullptr;
    OK(hipStreamCreate(&stream));
    OK(launch(code["read_at"], 1, stream, out.data, null));
    OK(hipStreamDestroy(stream));
    FAILS(hipDeviceSynchronize(), hipErrorIllegalAddress);
}

TEST_CASE("a fault belongs to its stream") {
    Code code;
    Ints out(1, 0);
    int *null = nullptr;
    OwnStream bad(hipStreamNonBlocking), good(hipStreamNonBlocking);
    CapturedStderr said;
    OK(launch(code["read_at"], 1, bad, out.data, null));
    OK(launch(code["increment"], 1, good, out.data));
    OK(hipStreamSynchronize(good));
    FAILS(hipStreamSynchronize(bad), hipErrorIllegalAddress);
    CHECK_EQ(out.get()[0], 1);
}

TEST_CASE("memory can be freed and modules unloaded behind a running kernel") {
    OwnStream stream(hipStreamNonBlocking);
    int *word = nullptr;
    OK(hipMalloc(reinterpret_cast<void **>(&word), 4));
    {
        Code code;
        OK(launch(code["spin"], 1, stream, word, turns));
    }
    OK(hipFree(word));
    OK(hipStreamSynchronize(stream)); // it had its memory and its code to the end
}

TEST_CASE("each thread has its own stream per thread") {
    Code code;
    constexpr int threads = 4, rounds = 25;
    Ints words(threads, 0);
    std::atomic<int> failures = 0;
    const hipFunction_t increment = code["increment"];
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&, t] {
            for (int i = 0; i < rounds; ++i)
                failures += launch(increment, 1, hipStreamPerThread, words.data + t) != hipSuccess;
            failures += hipStreamSynchronize(hipStreamPerThread) != hipSuccess;
        });
    for (std::thread &thread : all)
        thread.join();
    CHECK_EQ(failures, 0);
    CHECK(words.get() == std::vector<int>(threads, rounds));
}

TEST_CASE("threads allocate, copy, launch and free at once") {
    Code code;
    const hipFunction_t iota = code["iota"];
    std::atomic<int> failures = 0;
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
        all.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i) {
                int *p = nullptr, got[32] = {};
                hipStream_t stream = nullptr;
                failures += hipMalloc(reinterpret_cast<void **>(&p), sizeof got) != hipSuccess;
                failures += hipStreamCreate(&stream) != hipSuccess;
                failures += launch(iota, 32, stream, p, t, 32) != hipSuccess;
                failures += hipStreamSynchronize(stream) != hipSuccess;
                failures += hipMemcpy(got, p, sizeof got, hipMemcpyDeviceToHost) != hipSuccess;
                failures += got[31] != t + 31;
                failures += hipStreamDestroy(stream) != hipSuccess;
                failures += hipFree(p) != hipSuccess;
            }
        });
    for (std::thread &thread : all)
        thread.join();
    CHECK_EQ(failures, 0);
}

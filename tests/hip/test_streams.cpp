// SPDX-License-Identifier: MIT
// Streams and events: what waits for what. Nothing here depends on time: `hold` runs until the test
// lets it go, so what must wait can be seen waiting.
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "hip/common.h"

using namespace hip_test;

TEST_CASE("a launch returns before the kernel ends; query and synchronize tell") {
    Code code;
    Ints word(1, 0);
    OwnStream stream;
    Held held(code, stream, word.data);
    FAILS(hipStreamQuery(stream), hipErrorNotReady);
    held.release();
    OK(hipStreamSynchronize(stream));
    OK(hipStreamQuery(stream));
    CHECK_EQ(word.get()[0], 1);
}

TEST_CASE(
    "rows from pageable memory to the device: the host doesn't wait, and may use them again") {
    Code code;
    Ints word(1, 0), rows(2 * 64, 0);
    OwnStream stream;
    Held held(code, stream, word.data);
    std::vector<int> source(2 * 32, 7);
    OK(hipMemcpy2DAsync(rows.data, 256, source.data(), 128, 128, 2, hipMemcpyHostToDevice, stream));
    FAILS(hipStreamQuery(stream), hipErrorNotReady);
    std::fill(source.begin(), source.end(), 8);
    held.release();
    OK(hipStreamSynchronize(stream));
    const auto seen = rows.get();
    for (const int at : {0, 31, 64, 95})
        CHECK_EQ(seen[at], 7);
    CHECK_EQ(seen[32], 0);
}

TEST_CASE("a stream is in order") {
    Code code;
    Ints word(1, 0), copy(1, -1);
    OwnStream stream;
    Held held(code, stream, word.data);
    OK(launch(code["increment"], 1, stream, word.data));
    OK(hipMemcpyAsync(copy.data, word.data, 4, hipMemcpyDeviceToDevice, stream));
    OK(hipMemsetD32Async(word.data, 10, 1, stream));
    OK(launch(code["increment"], 1, stream, word.data));
    held.release();
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(copy.get()[0], 2);
    CHECK_EQ(word.get()[0], 11);
}

TEST_CASE("the null stream waits for blocking streams") {
    Code code;
    Ints word(1, 0), copy(1, -1);
    OwnStream stream;
    Held held(code, stream, word.data);
    OK(hipMemcpyAsync(copy.data, word.data, 4, hipMemcpyDeviceToDevice, nullptr));
    FAILS(hipStreamQuery(nullptr), hipErrorNotReady);
    held.release();
    OK(hipStreamSynchronize(nullptr));
    CHECK_EQ(copy.get()[0], 1);
}

TEST_CASE("blocking streams wait for the null stream, non-blocking ones for nobody") {
    Code code;
    Ints word(1, 0), copy(1, -1), free(1, 0);
    OwnStream blocking, non_blocking(hipStreamNonBlocking);
    Held held(code, nullptr, word.data);
    OK(hipMemcpyAsync(copy.data, word.data, 4, hipMemcpyDeviceToDevice, blocking));
    OK(launch(code["increment"], 1, non_blocking, free.data));
    OK(hipStreamSynchronize(non_blocking));
    FAILS(hipStreamQuery(blocking), hipErrorNotReady);
    FAILS(hipStreamQuery(nullptr), hipErrorNotReady);
    held.release();
    OK(hipDeviceSynchronize());
    CHECK_EQ(copy.get()[0], 1);
    CHECK_EQ(free.get()[0], 1);
}

TEST_CASE("hipMemcpy waits for blocking streams") {
    Code code;
    Ints word(1, 0);
    OwnStream stream;
    Held held(code, stream, word.data);
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        held.release();
    });
    CHECK_EQ(word.get()[0], 1);
    later.join();
}

TEST_CASE("hipStreamWaitEvent orders two streams") {
    Code code;
    Ints word(1, 0), copy(1, -1);
    OwnStream first(hipStreamNonBlocking), second(hipStreamNonBlocking);
    OwnEvent event;
    Held held(code, first, word.data);
    OK(hipEventRecord(event, first));
    FAILS(hipEventQuery(event), hipErrorNotReady);
    OK(hipStreamWaitEvent(second, event, 0));
    OK(hipMemcpyAsync(copy.data, word.data, 4, hipMemcpyDeviceToDevice, second));
    FAILS(hipStreamQuery(second), hipErrorNotReady);
    held.release();
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
    OK(hipEventSynchronize(event));
    Held held(code, stream, word.data);
    OK(hipEventQuery(event)); // the kernel came after
    OK(hipEventRecord(event, stream));
    FAILS(hipEventQuery(event), hipErrorNotReady);
    held.release();
    OK(hipEventSynchronize(event));
    CHECK_EQ(word.get()[0], 1);
}

TEST_CASE("elapsed time without timing is an estimate") {
    Code code;
    Ints word(1, 0);
    OwnEvent start, stop, untimed(hipEventDisableTiming), never;
    float ms = -1;
    OK(hipEventRecord(start, nullptr));
    Held held(code, nullptr, word.data);
    OK(hipEventRecord(stop, nullptr));
    FAILS(hipEventElapsedTime(&ms, start, stop), hipErrorNotReady);
    held.release();
    OK(hipEventSynchronize(stop));
    OK(hipEventElapsedTime(&ms, start, stop));
    CHECK_GT(ms, 0.0f);
    CHECK_LT(ms, 10000.0f);
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
    FAILS(hipStreamDestroy(hipStreamPerThread), hipErrorInvalidHandle);
    OK(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -1));
    unsigned flags = 9;
    OK(hipStreamGetFlags(stream, &flags));
    CHECK_EQ(flags, hipStreamNonBlocking);
    OK(hipStreamDestroy(stream));
    FAILS(hipStreamDestroy(stream), hipErrorContextIsDestroyed);
    FAILS(hipStreamSynchronize(stream), hipErrorContextIsDestroyed);
    FAILS(hipStreamQuery(stream), hipErrorContextIsDestroyed);
    FAILS(hipStreamWaitEvent(stream, nullptr, 0), hipErrorInvalidHandle);
    int value = 0;
    FAILS(hipMemcpyAsync(&value, &value, 4, hipMemcpyDefault, stream), hipErrorContextIsDestroyed);
    FAILS(hipStreamSynchronize(reinterpret_cast<hipStream_t>(&value)), hipErrorContextIsDestroyed);
}

TEST_CASE("misuse of events") {
    hipEvent_t event = nullptr;
    FAILS(hipEventCreate(nullptr), hipErrorInvalidValue);
    FAILS(hipEventCreateWithFlags(&event, 0x1000), hipErrorInvalidValue);
    FAILS(hipEventCreateWithFlags(&event, hipEventReleaseToDevice | hipEventReleaseToSystem),
          hipErrorInvalidValue);
    FAILS(hipEventDestroy(nullptr), hipErrorInvalidHandle);
    FAILS(hipEventRecord(nullptr, nullptr), hipErrorInvalidHandle);
    OK(hipEventCreate(&event));
    OK(hipEventDestroy(event));
    FAILS(hipEventDestroy(event), hipErrorContextIsDestroyed);
    FAILS(hipEventRecord(event, nullptr), hipErrorInvalidHandle);
    FAILS(hipEventQuery(event), hipErrorInvalidHandle);
}

TEST_CASE("an event belongs to the device that was current when it was made") {
    OwnEvent here, also_here;
    OK(hipSetDevice(1));
    OwnEvent there;
    OwnStream stream;
    OK(hipEventRecord(there, stream));
    FAILS(hipEventRecord(here, stream), hipErrorInvalidHandle);
    OK(hipSetDevice(0));
    OK(hipEventRecord(here, nullptr));
    OK(hipEventRecord(also_here, nullptr));
    FAILS(hipEventRecord(there, nullptr), hipErrorInvalidHandle);
    OK(hipStreamWaitEvent(nullptr, there, 0)); // who waits may be elsewhere
    OK(hipDeviceSynchronize());
    float ms = -1;
    FAILS(hipEventElapsedTime(&ms, here, there), hipErrorInvalidHandle);
    OK(hipEventElapsedTime(&ms, here, also_here));
}

// Calls that free a resource must wait for the kernel that uses it: each of these returns only
// after release.
TEST_CASE("destroying, freeing and unloading wait for running kernels") {
    Code code;
    hipModule_t module = nullptr;
    hipFunction_t hold = nullptr;
    hipStream_t stream = nullptr;
    int *word = nullptr, *flag = nullptr;
    OK(hipModuleLoad(&module, code_path().c_str()));
    OK(hipModuleGetFunction(&hold, module, "hold"));
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    OK(hipMalloc(reinterpret_cast<void **>(&word), 4));
    OK(hipHostMalloc(reinterpret_cast<void **>(&flag), 4, 0));
    *flag = 0;
    OK(launch(hold, 1, stream, word, flag));
    std::atomic<bool> released = false;
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        released = true;
        std::atomic_ref<int>{ *flag} = 1;
    });
    SUBCASE("hipStreamDestroy") {
        OK(hipStreamDestroy(stream));
        stream = nullptr;
    }
    SUBCASE("hipFree") {
        OK(hipFree(word));
        word = nullptr;
    }
    SUBCASE("hipModuleUnload") {
        OK(hipModuleUnload(module));
        module = nullptr;
    }
    CHECK(released);
    later.join();
    OK(hipDeviceSynchronize()); // it had its memory and its code to the end
    if (stream)
        OK(hipStreamDestroy(stream));
    if (module)
        OK(hipModuleUnload(module));
    OK(hipFree(word));
    OK(hipHostFree(flag));
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

// Being woken by the stream's thread takes several times as long as a kernel of one wave. This
// counts how often the host's thread slept: before, at nearly each launch.
TEST_CASE("a host that waits for a short kernel runs it, and does not sleep") {
    constexpr int launches = 1000;
    const auto sleeps = [] {
        rusage used{};
        REQUIRE_EQ(getrusage(RUSAGE_THREAD, &used), 0);
        return used.ru_nvcsw;
    };
    Code code;
    Ints word(1, 0);
    OwnStream stream;
    OwnEvent event;
    const auto before = sleeps();
    for (int i = 0; i < launches; ++i) {
        OK(launch(code["increment"], 1, stream, word.data));
        if (i % 3 == 0)
            OK(hipEventRecord(event, stream));
        OK(i % 3 == 0   ? hipEventSynchronize(event)
           : i % 3 == 1 ? hipStreamSynchronize(stream)
                        : hipDeviceSynchronize());
    }
    CHECK_LT(sleeps() - before, launches / 2);
    CHECK_EQ(word.get()[0], launches);
}

TEST_CASE("a host's thread with a small stack waits for the stream's thread") {
    Code code;
    Ints word(1, 0);
    struct Task {
        hipFunction_t kernel;
        int *word;
    } task{code["increment"], word.data};
    pthread_attr_t small;
    REQUIRE_EQ(pthread_attr_init(&small), 0);
    REQUIRE_EQ(pthread_attr_setstacksize(&small, 64 << 10), 0);
    pthread_t thread{};
    const auto run = [](void *data) -> void * {
        const Task &t = *static_cast<Task *>(data);
        for (int i = 0; i < 100; ++i) {
            OK(launch(t.kernel, 1, nullptr, t.word));
            OK(hipDeviceSynchronize());
        }
        return nullptr;
    };
    REQUIRE_EQ(pthread_create(&thread, &small, run, &task), 0);
    REQUIRE_EQ(pthread_join(thread, nullptr), 0);
    CHECK_EQ(word.get()[0], 100);
}

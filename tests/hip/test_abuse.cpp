// SPDX-License-Identifier: MIT
// Calls that no correct program makes: an error code each, never a crash.
#include <dlfcn.h>

#include <array>
#include <thread>

#include "hip/common.h"

using namespace hip_test;

namespace {

struct EntryPoint {
    const char *name;
    enum Kind { here, missing } kind;
    int pointers = 0; // missing ones: number of leading arguments that can't be null
};

constexpr EntryPoint entry_points[] = {
#define HIP_ENTRY(node, name) {#name, EntryPoint::here},
#define HIP_MISSING(node, name, pointers) {#name, EntryPoint::missing, pointers},
#include "sim/hip/entry_points.inc"
#undef HIP_ENTRY
#undef HIP_MISSING
};

// `first` and `second` for the first two; null for every pointer and handle after them, 0 for every
// number, wherever a call looks for them.
int call_with(const char *name, long first, long second) {
    using Call = int (*)(long, long, long, long, long, long, long, long, long, long, long, long);
    void *const address = dlsym(RTLD_DEFAULT, name);
    REQUIRE_MESSAGE(address != nullptr, name);
    return reinterpret_cast<Call>(address)(first, second, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

// Returns a structure: its caller vouches for where.
bool returns_by_hidden_pointer(std::string_view name) { return name == "hipCreateChannelDesc"; }

hipError_t launch_shape(hipFunction_t function, dim3 grid, dim3 block, unsigned lds) {
    int *none = nullptr;
    void *params[] = {&none};
    return hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, lds,
                                 nullptr, params, nullptr);
}

} // namespace

TEST_CASE("every entry point takes nulls and zeros; what is missing says so") {
    CapturedStderr said;
    std::thread([] { // whose stream, last error and capture mode are its own
        for (const EntryPoint &entry : entry_points) {
            if (returns_by_hidden_pointer(entry.name))
                continue;
            CAPTURE(entry.name);
            const int result = call_with(entry.name, 0, 0);
            if (entry.kind == EntryPoint::here)
                continue;
            CHECK_EQ(result, entry.pointers ? hipErrorInvalidValue : hipErrorNotSupported);
            if (entry.pointers > 1)
                CHECK_EQ(call_with(entry.name, 8, 0), hipErrorInvalidValue);
            CHECK_EQ(call_with(entry.name, 8, 8), hipErrorNotSupported);
        }
    })
        .join();
    const std::string text = said.text();
    for (const EntryPoint &entry : entry_points)
        if (entry.kind != EntryPoint::here)
            CHECK_MESSAGE(text.find("hipsim: " + std::string(entry.name) + " is not supported") !=
                              std::string::npos,
                          entry.name);
    Code code; // and all works as before
    Ints out(32);
    OK(launch(code["iota"], 32, nullptr, out.data, 5, 32));
    CHECK_EQ(out.get()[31], 36);
}

TEST_CASE("a capture ends with the thread whose own stream captures") {
    std::thread([] {
        CHECK_EQ(hipStreamBeginCapture(hipStreamPerThread, hipStreamCaptureModeGlobal), hipSuccess);
    }).join();
    Ints out(1); // a capture would forbid it
    OK(hipDeviceSynchronize());
}

TEST_CASE("handles that are gone, in every call that takes them") {
    Code code;
    Ints word(1);
    OwnStream live; // made before the others go: handles are used again
    OwnEvent recorded;
    hipStream_t stream = nullptr;
    hipEvent_t event = nullptr;
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&event));
    OK(hipStreamDestroy(stream));
    OK(hipEventDestroy(event));
    int value = 0;
    unsigned flags = 0;
    float ms = 0;
    FAILS(launch(code["increment"], 1, stream, word.data), hipErrorInvalidValue);
    FAILS(hipMemsetAsync(word.data, 0, 4, stream), hipErrorContextIsDestroyed);
    FAILS(hipMemcpyDtoHAsync(&value, word.data, 4, stream), hipErrorContextIsDestroyed);
    FAILS(hipStreamGetFlags(stream, &flags), hipErrorContextIsDestroyed);
    FAILS(hipStreamGetPriority(stream, &value), hipErrorContextIsDestroyed);
    FAILS(hipEventRecord(recorded, stream), hipErrorContextIsDestroyed);
    FAILS(hipStreamWaitEvent(stream, recorded, 0), hipErrorInvalidHandle);
    FAILS(hipStreamWaitEvent(live, event, 0), hipErrorInvalidHandle);
    FAILS(hipEventSynchronize(event), hipErrorInvalidHandle);
    FAILS(hipEventElapsedTime(&ms, event, recorded), hipErrorInvalidHandle);
    FAILS(hipEventElapsedTime(&ms, recorded, event), hipErrorInvalidHandle);
    FAILS(hipLaunchHostFunc(
              stream, [](void *) {}, nullptr),
          hipErrorContextIsDestroyed);
    FAILS(hipStreamAddCallback(
              stream, [](hipStream_t, hipError_t, void *) {}, nullptr, 0),
          hipErrorContextIsDestroyed);
    FAILS(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipErrorContextIsDestroyed);
    void *memory = nullptr;
    FAILS(hipMallocAsync(&memory, 4, stream), hipErrorInvalidHandle);
    FAILS(hipFreeAsync(word.data, stream), hipErrorInvalidHandle);
    CHECK_EQ(word.get()[0], 0);
}

TEST_CASE("absurd launches and double frees from several threads at once") {
    Code code;
    const hipFunction_t small = code["small"], iota = code["iota"];
    std::array<void *, 8> freed{};
    for (void *&p : freed)
        OK(hipMalloc(&p, 64));
    std::atomic<int> wins = 0, surprises = 0;
    const auto expect = [&](hipError_t got, hipError_t wanted) { surprises += got != wanted; };
    CapturedStderr said;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (void *p : freed) {
                wins += hipFree(p) == hipSuccess;
                expect(launch_shape(small, {1u << 31, 1, 1}, {32, 1, 1}, 0),
                       hipErrorInvalidConfiguration);
                expect(launch_shape(small, {1, 1, 1}, {1025, 1, 1}, 0), hipErrorInvalidValue);
                expect(launch_shape(small, {1, 1, 1}, {0, 1, 1}, 0), hipErrorInvalidValue);
                expect(launch_shape(small, {1, 1, 1}, {32, 1, 1}, 70 << 10), hipErrorInvalidValue);
                expect(hipModuleLaunchKernel(iota, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
                       hipErrorInvalidValue); // it has arguments
                expect(
                    hipModuleLaunchKernel(nullptr, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
                    hipErrorInvalidHandle);
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK_EQ(wins, 8); // each once
    CHECK_EQ(surprises, 0);
    OK(hipDeviceSynchronize());
}

TEST_CASE("one stream, destroyed by several threads while others use it") {
    Code code;
    Ints word(1);
    for (int round = 0; round < 20; ++round) {
        hipStream_t stream = nullptr;
        OK(hipStreamCreate(&stream));
        std::atomic<int> destroyed = 0, surprises = 0;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&, t] {
                const hipError_t used = launch(code["increment"], 1, stream, word.data);
                surprises += used != hipSuccess && used != hipErrorInvalidValue;
                if (t % 2)
                    destroyed += hipStreamDestroy(stream) == hipSuccess;
                else
                    static_cast<void>(hipStreamSynchronize(stream));
            });
        for (std::thread &thread : threads)
            thread.join();
        CHECK_EQ(destroyed, 1);
        CHECK_EQ(surprises, 0);
    }
    OK(hipDeviceSynchronize());
}

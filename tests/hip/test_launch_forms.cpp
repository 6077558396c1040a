// SPDX-License-Identifier: MIT
// All launch functions except hipModuleLaunchKernel; occupancy; functions and words in streams.
#include <thread>

#include "hip/common.h"

using namespace hip_test;

// Newer than the oldest headers that we build with, or of another header.
#define NEWER(name, symbol, ...) extern "C" hipError_t name(__VA_ARGS__) asm(symbol)
NEWER(launch_cooperative, "hipModuleLaunchCooperativeKernel", hipFunction_t, unsigned, unsigned,
      unsigned, unsigned, unsigned, unsigned, unsigned, hipStream_t, void **);
NEWER(ext_launch, "hipExtModuleLaunchKernel", hipFunction_t, unsigned, unsigned, unsigned, unsigned,
      unsigned, unsigned, std::size_t, hipStream_t, void **, void **, hipEvent_t, hipEvent_t,
      unsigned);
NEWER(ext_launch_cpp,
      "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_t"
      "S6_j",
      hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, std::size_t,
      hipStream_t, void **, void **, hipEvent_t, hipEvent_t, unsigned);
NEWER(hcc_launch_cpp,
      "_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_t"
      "S6_",
      hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, std::size_t,
      hipStream_t, void **, void **, hipEvent_t, hipEvent_t);
NEWER(hcc_launch, "hipHccModuleLaunchKernel", hipFunction_t, unsigned, unsigned, unsigned, unsigned,
      unsigned, unsigned, std::size_t, hipStream_t, void **, void **, hipEvent_t, hipEvent_t);
NEWER(launch_ex, "hipLaunchKernelExC", const void *, const void *, void **);
NEWER(driver_launch_ex, "hipDrvLaunchKernelEx", const void *, hipFunction_t, void **, void **);
NEWER(function_count, "hipModuleGetFunctionCount", unsigned *, hipModule_t);
NEWER(load_fat_binary, "hipModuleLoadFatBinary", hipModule_t *, const void *);
NEWER(library_load, "hipLibraryLoadFromFile", void **, const char *, void *, void **, unsigned,
      void *, void **, unsigned);
NEWER(library_load_data, "hipLibraryLoadData", void **, const void *, void *, void **, unsigned,
      void *, void **, unsigned);
NEWER(library_kernel, "hipLibraryGetKernel", hipFunction_t *, void *, const char *);
NEWER(library_count, "hipLibraryGetKernelCount", unsigned *, void *);
NEWER(library_unload, "hipLibraryUnload", void *);
#undef NEWER

namespace {

struct Attribute { // hipLaunchAttribute
    int id, pad;
    int cooperative;
    char rest[60];
};
struct Config { // hipLaunchConfig_t
    dim3 grid, block;
    std::size_t dynamic_lds;
    hipStream_t stream;
    const Attribute *attributes;
    unsigned count;
};
struct DriverConfig { // HIP_LAUNCH_CONFIG
    unsigned grid[3], block[3], dynamic_lds;
    hipStream_t stream;
    const Attribute *attributes;
    unsigned count;
};

// `meet` on `groups` workgroups, cooperatively.
hipError_t meet(const Code &code, unsigned groups, unsigned block, int *words, int n) {
    void *params[] = {&words, &n};
    return launch_cooperative(code["meet"], groups, 1, 1, block, 1, 1, 0, nullptr, params);
}

} // namespace

TEST_CASE("a cooperative launch: its workgroups may wait for each other") {
    Code code;
    Ints words(2, 0);
    for (const unsigned groups : {1u, 2u, 17u, 200u}) {
        OK(hipMemsetD32(words.data, 0, 2));
        OK(meet(code, groups, 64, words.data, static_cast<int>(groups)));
        OK(hipDeviceSynchronize());
        CHECK(words.get() == std::vector<int>(2, static_cast<int>(groups)));
    }
}

TEST_CASE("a cooperative launch of more than fit on the device is refused") {
    Code code;
    Ints words(2, 0);
    int per_wgp = 0;
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&per_wgp, code["meet"], 1024, 0));
    REQUIRE_GT(per_wgp, 0);
    const auto most = static_cast<unsigned>(per_wgp) * 20; // gfx1151 has 20 WGPs
    CapturedStderr said;
    FAILS(meet(code, most + 1, 1024, words.data, 1), hipErrorCooperativeLaunchTooLarge);
    CHECK(said.text().find(std::to_string(most) + " fit on the device") != std::string::npos);
    OK(meet(code, most, 1024, words.data, static_cast<int>(most)));
    OK(hipDeviceSynchronize());
    CHECK_EQ(words.get()[1], static_cast<int>(most));
}

TEST_CASE("launches that count work-items, in their C and C++ names") {
    Code code;
    Ints out(64, -1);
    int first = 3, n = 64;
    void *params[] = {&out.data, &first, &n};
    OwnEvent start, stop;
    SUBCASE("C") {
        OK(ext_launch(code["iota"], 64, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr, start, stop,
                      0));
        OK(hipEventSynchronize(stop));
        float ms = -1;
        OK(hipEventElapsedTime(&ms, start, stop));
    }
    SUBCASE("C++") {
        OK(ext_launch_cpp(code["iota"], 64, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr, nullptr,
                          nullptr, 0));
    }
    SUBCASE("the oldest, C") {
        OK(hcc_launch(code["iota"], 64, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr, start, stop));
        OK(hipEventSynchronize(stop));
    }
    SUBCASE("the oldest, C++") {
        OK(hcc_launch_cpp(code["iota"], 64, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr, nullptr,
                          nullptr));
    }
    CHECK_EQ(out.get()[63], 66);
    OK(hipMemsetD32(out.data, 0, 64)); // a workgroup that is larger than the grid shrinks to it
    OK(ext_launch(code["iota"], 40, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr, nullptr, nullptr,
                  0));
    CHECK_EQ(out.get()[39], 42);
    CHECK_EQ(out.get()[40], 0);
    CapturedStderr said;
    FAILS(ext_launch(code["iota"], 65, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr, nullptr,
                     nullptr, 0),
          hipErrorNotSupported);
    CHECK(said.text().find("full workgroups") != std::string::npos);
    for (const unsigned size : {0u, ~0u})
        FAILS(ext_launch(code["iota"], 64, 1, 1, size, 1, 1, 0, nullptr, params, nullptr, nullptr,
                         nullptr, 0),
              hipErrorInvalidValue);
}

TEST_CASE("launches by a configuration") {
    Code code;
    Ints out(4, -1), words(2, 0);
    int first = 8, n = 4;
    void *params[] = {&out.data, &first, &n};
    const Attribute cooperative{2, 0, 1, {}};
    Config config{dim3(1), dim3(32), 0, nullptr, &cooperative, 1};
    OK(launch_ex(&config, reinterpret_cast<void *>(code["iota"]), params));
    CHECK(out.get() == std::vector<int>{8, 9, 10, 11});
    DriverConfig driver{{3, 1, 1}, {32, 1, 1}, 0, nullptr, &cooperative, 1};
    int three = 3;
    void *meeting[] = {&words.data, &three};
    OK(driver_launch_ex(&driver, code["meet"], meeting, nullptr));
    CHECK(words.get() == std::vector<int>(2, 3));

    FAILS(launch_ex(nullptr, reinterpret_cast<void *>(code["iota"]), params),
          hipErrorInvalidConfiguration);
    FAILS(launch_ex(&config, nullptr, params), hipErrorInvalidDeviceFunction);
    FAILS(driver_launch_ex(&driver, nullptr, meeting, nullptr), hipErrorInvalidHandle);
    const Attribute unknown{99, 0, 0, {}};
    config.attributes = &unknown;
    FAILS(launch_ex(&config, reinterpret_cast<void *>(code["iota"]), params), hipErrorInvalidValue);
}

TEST_CASE("occupancy") {
    Code code;
    const hipFunction_t small = code["small"], iota = code["iota"];
    int blocks = -1, grid = 0, size = 0;
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, iota, 256, 0, 0));
    CHECK_EQ(blocks, 8); // 64 waves on a WGP
    OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<void *>(iota), 256,
                                                    0));
    CHECK_EQ(blocks, 8);
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 64, 0));
    CHECK_EQ(blocks, 3); // 40000 of 131072 bytes of LDS
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 128, 0));
    CHECK_EQ(blocks, 0); // more than .max_flat_workgroup_size
    OK(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, iota, 64, 1 << 20));
    CHECK_EQ(blocks, 0);
    OK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &size, iota, 0, 0));
    CHECK_EQ(size, 1024);
    CHECK_EQ(grid, 2 * 20);
    OK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &size, iota, 0, 100));
    CHECK_LE(size, 100);
    OK(hipModuleOccupancyMaxPotentialBlockSize(&grid, &size, small, 0, 0));
    CHECK_EQ(size, 64);
    FAILS(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, iota, 64, 0),
          hipErrorInvalidValue);
    FAILS(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, iota, 0, 0),
          hipErrorInvalidValue);
    FAILS(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, iota, 64, 0, 8),
          hipErrorInvalidValue);
    FAILS(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &blocks, 64, 0),
          hipErrorInvalidDeviceFunction);
}

TEST_CASE("functions of the host run in the stream's order and hold it up") {
    Code code;
    Ints word(1, 0);
    OwnStream stream;
    struct Seen {
        int *word;
        int at_call = -1;
        hipError_t status = hipErrorUnknown;
        hipError_t inner = hipSuccess;
        hipStream_t stream = nullptr;
    } first{word.data}, second{word.data};
    CapturedStderr said;
    {
        Held held(code, stream, word.data);
        OK(hipLaunchHostFunc(
            stream,
            [](void *data) {
                auto *seen = static_cast<Seen *>(data);
                seen->at_call = *seen->word; // device memory is the host's, here
                seen->inner = hipDeviceSynchronize();
            },
            &first));
        OK(launch(code["increment"], 1, stream, word.data));
        OK(hipStreamAddCallback(
            stream,
            [](hipStream_t which, hipError_t status, void *data) {
                auto *seen = static_cast<Seen *>(data);
                seen->at_call = *seen->word;
                seen->status = status;
                seen->stream = which;
            },
            &second, 0));
        held.release();
    }
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(first.at_call, 1);
    CHECK_EQ(first.inner, hipErrorIllegalState); // it would wait for itself
    CHECK_EQ(second.at_call, 2);
    CHECK_EQ(second.status, hipSuccess);
    CHECK_EQ(second.stream, stream.handle);
    FAILS(hipLaunchHostFunc(stream, nullptr, nullptr), hipErrorInvalidValue);
    FAILS(hipStreamAddCallback(stream, nullptr, nullptr, 0), hipErrorInvalidValue);
    FAILS(hipStreamAddCallback(
              stream, [](hipStream_t, hipError_t, void *) {}, nullptr, 1),
          hipErrorInvalidValue);
}

TEST_CASE("a callback is told of the stream's error") {
    Code code;
    Ints out(1, 0);
    OwnStream stream;
    int *null = nullptr;
    hipError_t told = hipSuccess;
    CapturedStderr said;
    OK(launch(code["read_at"], 1, stream, out.data, null));
    OK(hipStreamAddCallback(
        stream,
        [](hipStream_t, hipError_t status, void *data) {
            *static_cast<hipError_t *>(data) = status;
        },
        &told, 0));
    FAILS(hipStreamSynchronize(stream), hipErrorIllegalAddress);
    CHECK_EQ(told, hipErrorIllegalAddress);
}

TEST_CASE("streams wait for a word in memory, and write one") {
    Ints words(4, 0);
    OwnStream waiter(hipStreamNonBlocking), writer(hipStreamNonBlocking);
    OK(hipStreamWaitValue32(waiter, words.data, 3, hipStreamWaitValueGte, 0xffffffff));
    OK(hipStreamWriteValue32(waiter, words.data + 1, 7, 0));
    FAILS(hipStreamQuery(waiter), hipErrorNotReady);
    OK(hipStreamWriteValue32(writer, words.data, 2, 0)); // not yet
    OK(hipStreamSynchronize(writer));
    FAILS(hipStreamQuery(waiter), hipErrorNotReady);
    OK(hipStreamWriteValue32(writer, words.data, 4, 0));
    OK(hipStreamSynchronize(waiter));
    CHECK_EQ(words.get()[1], 7);
    OK(hipStreamWriteValue64(writer, words.data + 2, 0x100000000, 0));
    OK(hipStreamWaitValue64(waiter, words.data + 2, 0x100000000, hipStreamWaitValueAnd, ~0ull));
    OK(hipStreamSynchronize(waiter));
    FAILS(hipStreamWaitValue32(waiter, nullptr, 0, 0, 0), hipErrorInvalidValue);
    FAILS(hipStreamWaitValue32(waiter, words.data, 0, 9, 0), hipErrorInvalidValue);
    int on_stack = 0;
    FAILS(hipStreamWriteValue32(writer, &on_stack, 0, 0), hipErrorInvalidValue);
}

TEST_CASE("modules as newer hosts load them") {
    Code code;
    unsigned count = 0;
    OK(function_count(&count, code.module));
    CHECK_EQ(count, 9);
    const auto image = code_bytes();
    hipModule_t module = nullptr;
    OK(load_fat_binary(&module, image.data()));
    OK(function_count(&count, module));
    CHECK_EQ(count, 9);
    OK(hipModuleUnload(module));
    FAILS(function_count(&count, module), hipErrorInvalidHandle);
}

TEST_CASE("libraries") {
    void *library = nullptr;
    const auto image = code_bytes();
    const auto check = [&] {
        unsigned count = 0;
        OK(library_count(&count, library));
        CHECK_EQ(count, 9);
        hipFunction_t kernel = nullptr;
        FAILS(library_kernel(&kernel, library, "nothing"), hipErrorNotFound);
        OK(library_kernel(&kernel, library, "increment"));
        Ints word(1, 0);
        OK(launch(kernel, 1, nullptr, word.data));
        CHECK_EQ(word.get()[0], 1);
        OK(library_unload(library));
        FAILS(library_unload(library), hipErrorInvalidHandle);
        FAILS(launch(kernel, 1, nullptr, word.data), hipErrorInvalidHandle);
    };
    SUBCASE("from a file") {
        OK(library_load(&library, code_path().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        check();
    }
    SUBCASE("from memory") {
        OK(library_load_data(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        check();
    }
    CapturedStderr said;
    FAILS(library_load(&library, "/no/such/file", nullptr, nullptr, 0, nullptr, nullptr, 0),
          hipErrorFileNotFound);
}

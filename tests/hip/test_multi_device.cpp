// SPDX-License-Identifier: MIT
// Launches of one grid on each of several devices, whose grids meet.
#include <algorithm>
#include <array>
#include <vector>

#include "hip/common.h"

using namespace hip_test;

struct FunctionLaunch { // hipFunctionLaunchParams
    hipFunction_t function;
    unsigned grid[3], block[3], dynamic_lds;
    hipStream_t stream;
    void **params;
};
extern "C" hipError_t launch_functions(FunctionLaunch *, unsigned,
                                       unsigned) asm("hipModuleLaunchCooperativeKernelMultiDevice");
extern "C" hipError_t launch_cooperative(hipFunction_t, unsigned, unsigned, unsigned, unsigned,
                                         unsigned, unsigned, unsigned, hipStream_t,
                                         void **) asm("hipModuleLaunchCooperativeKernel");

namespace {

// A device with a stream of its own and the kernels of services.hip.
struct Place {
    explicit Place(int ordinal, const std::string &gfx) : ordinal(ordinal) {
        OK(hipSetDevice(ordinal));
        OK(hipStreamCreate(&stream));
        const std::string path = NW_BUILD_DIR "/tests/hip/code/services_" + gfx + ".hsaco";
        OK(hipModuleLoad(&module, path.c_str()));
        OK(hipSetDevice(0));
    }
    ~Place() {
        static_cast<void>(hipSetDevice(ordinal));
        static_cast<void>(hipModuleUnload(module));
        static_cast<void>(hipStreamDestroy(stream));
        static_cast<void>(hipSetDevice(0));
    }
    Place(const Place &) = delete;
    FunctionLaunch launch(const char *name, unsigned groups, void **params) const {
        hipFunction_t function = nullptr;
        OK(hipModuleGetFunction(&function, module, name));
        return {function, {groups, 1, 1}, {64, 1, 1}, 0, stream, params};
    }
    const int ordinal;
    hipStream_t stream = nullptr;
    hipModule_t module = nullptr;
};

// Memory that both devices see.
struct Shared {
    explicit Shared(std::size_t count) {
        OK(hipHostMalloc(reinterpret_cast<void **>(&data), count * 4, hipHostMallocMapped));
        std::fill_n(data, count, 0u);
    }
    ~Shared() { static_cast<void>(hipHostFree(data)); }
    unsigned *data = nullptr;
};

} // namespace

TEST_CASE("the grids of two devices meet, as often as they want") {
    const Place first(0, "gfx1151"), second(1, "gfx1100");
    int possible = 0;
    OK(hipDeviceGetAttribute(&possible, hipDeviceAttributeCooperativeMultiDeviceLaunch, 1));
    CHECK_EQ(possible, 1);
    Shared parts(2), sums(4);
    unsigned rounds = 5;
    void *params[] = {&parts.data, &sums.data, &rounds};
    for (const unsigned flags : {0u, 1u, 3u}) { // the last ones: without waiting before and after
        std::array<FunctionLaunch, 2> both{first.launch("sum_of_grids", 3, params),
                                           second.launch("sum_of_grids", 7, params)};
        OK(launch_functions(both.data(), 2, flags));
        OK(hipStreamSynchronize(first.stream));
        OK(hipStreamSynchronize(second.stream));
        for (const unsigned rank : {0u, 1u}) {
            CHECK_EQ(sums.data[2 * rank], (1 + 2 + 3 + 4 + 5) * (1 + 2));
            CHECK_EQ(sums.data[2 * rank + 1], (3 + 7) * 64);
        }
    }
}

TEST_CASE("one device alone, and a cooperative launch that is not one of several") {
    const Place first(0, "gfx1151");
    Shared parts(2), sums(4);
    unsigned rounds = 2;
    void *params[] = {&parts.data, &sums.data, &rounds};
    FunctionLaunch alone = first.launch("sum_of_grids", 4, params);
    OK(launch_functions(&alone, 1, 0));
    CHECK_EQ(sums.data[0], 1 + 2);
    CHECK_EQ(sums.data[1], 4 * 64);
    const Ints out(64, 7);
    int *const data = out.data;
    void *valid[] = {const_cast<int **>(&data)};
    FunctionLaunch asks = first.launch("valid_grids", 1, valid);
    OK(launch_functions(&asks, 1, 0));
    CHECK_EQ(out.get()[0], 1);
    OK(launch_cooperative(asks.function, 1, 1, 1, 64, 1, 1, 0, first.stream, valid));
    OK(hipStreamSynchronize(first.stream));
    CHECK_EQ(out.get()[0], 0);
}

TEST_CASE("a grid that waits for one that has ended is a named fault") {
    const Place first(0, "gfx1151"), second(1, "gfx1100");
    for (unsigned rounds : {0u, 2u}) {
        void *params[] = {&rounds};
        std::array<FunctionLaunch, 2> both{first.launch("sync_unless_first_grid", 2, params),
                                           second.launch("sync_unless_first_grid", 3, params)};
        CapturedStderr said;
        OK(launch_functions(both.data(), 2, 0)); // errors stay with the streams
        OK(hipStreamSynchronize(first.stream));
        FAILS(hipStreamSynchronize(second.stream), hipErrorLaunchTimeOut);
        CHECK(said.text().find("endless grid sync: 3 of 3 workgroups") != std::string::npos);
    }
}

TEST_CASE("what a launch over several devices refuses") {
    const Place first(0, "gfx1151"), second(1, "gfx1100");
    unsigned rounds = 0;
    void *params[] = {&rounds};
    const FunctionLaunch good = first.launch("sync_unless_first_grid", 1, params),
                         other = second.launch("sync_unless_first_grid", 1, params);
    std::array<FunctionLaunch, 2> both{good, other};
    CapturedStderr said;
    FAILS(launch_functions(nullptr, 1, 0), hipErrorInvalidValue);
    FAILS(launch_functions(both.data(), 0, 0), hipErrorInvalidValue);
    FAILS(launch_functions(both.data(), 3, 0), hipErrorInvalidValue); // there are two devices
    CHECK(said.text().find("3 devices: must be 1..2") != std::string::npos);
    FAILS(launch_functions(both.data(), 2, 4), hipErrorInvalidValue);
    both[1] = good;
    FAILS(launch_functions(both.data(), 2, 0), hipErrorInvalidDevice); // a device twice
    CHECK(said.text().find("two streams of device 0") != std::string::npos);
    both = {good, other};
    both[1].stream = nullptr;
    FAILS(launch_functions(both.data(), 2, 0), hipErrorInvalidHandle);
    both = {good, other};
    both[0].block[1] = 0;
    FAILS(launch_functions(both.data(), 2, 0), hipErrorInvalidConfiguration);
    both = {good, other};
    both[1].grid[0] = 1 << 20; // checked before the first one begins
    FAILS(launch_functions(both.data(), 2, 0), hipErrorCooperativeLaunchTooLarge);
    both = {good, other};
    both[1].function = good.function; // of the other device
    FAILS(launch_functions(both.data(), 2, 0), hipErrorInvalidHandle);
    OK(hipStreamBeginCapture(first.stream, hipStreamCaptureModeRelaxed));
    both = {good, other};
    FAILS(launch_functions(both.data(), 2, 0), hipErrorStreamCaptureUnsupported);
    hipGraph_t graph = nullptr;
    OK(hipStreamEndCapture(first.stream, &graph));
    OK(hipGraphDestroy(graph));
    hipLaunchParams unknown{};
    unknown.func = &rounds;
    unknown.gridDim = unknown.blockDim = dim3(1);
    unknown.stream = first.stream;
    FAILS(hipLaunchCooperativeKernelMultiDevice(&unknown, 1, 0), hipErrorInvalidDeviceFunction);
    FAILS(hipLaunchCooperativeKernelMultiDevice(nullptr, 1, 0), hipErrorInvalidValue);
    FAILS(hipExtLaunchMultiKernelMultiDevice(&unknown, 3, 0), hipErrorInvalidValue);
}

TEST_CASE("independent kernels on several devices by one call") {
    const Place first(0, "gfx1151");
    const Ints out(64, 7);
    int *const data = out.data;
    void *params[] = {const_cast<int **>(&data)};
    hipLaunchParams launch{};
    launch.func = first.launch("valid", 1, params).function;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(64);
    launch.args = params;
    launch.stream = first.stream;
    OK(hipExtLaunchMultiKernelMultiDevice(&launch, 1, 0));
    CHECK_EQ(out.get()[63], 0); // no grid sync
    OK(hipLaunchCooperativeKernelMultiDevice(&launch, 1, 0));
    CHECK_EQ(out.get()[63], 1);
}

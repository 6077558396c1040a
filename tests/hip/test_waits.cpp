// SPDX-License-Identifier: MIT
// Kernels that wait for a time, and launches that do nothing, without timing.
#include <chrono>
#include <xmmintrin.h>

#include "hip/common.h"

using namespace hip_test;

namespace {

constexpr int ticks_per_ms = 100'000;

using Host = std::chrono::steady_clock;

struct Waits {
    Waits() { OK(hipModuleLoad(&module, NW_BUILD_DIR "/tests/hip/code/waits_gfx1151.hsaco")); }
    ~Waits() { static_cast<void>(hipModuleUnload(module)); }
    hipFunction_t operator[](const char *name) const {
        hipFunction_t function = nullptr;
        OK(hipModuleGetFunction(&function, module, name));
        return function;
    }
    hipModule_t module = nullptr;
};

double ms_since(Host::time_point begin) {
    return std::chrono::duration<double, std::milli>(Host::now() - begin).count();
}

} // namespace

TEST_CASE("a kernel that waits for a time lasts as long, for the host and by its event") {
    Waits code;
    OwnStream stream;
    OwnEvent start, stop;
    Ints out(1);
    constexpr int ms = 40;
    const auto begin = Host::now();
    OK(hipEventRecord(start, stream));
    OK(launch(code["wait_for"], 1, stream, out.data, ms * ticks_per_ms));
    OK(hipEventRecord(stop, stream));
    FAILS(hipStreamQuery(stream), hipErrorNotReady);
    OK(hipStreamSynchronize(stream));
    CHECK_GE(ms_since(begin), ms);
    const int ticks = out.get()[0];
    CHECK_GE(ticks, ms * ticks_per_ms);
    CHECK_LT(ticks, ms * ticks_per_ms * 1.02);
    float elapsed = 0;
    OK(hipEventElapsedTime(&elapsed, start, stop));
    CHECK_GE(elapsed, 0.98f * ms); // the start's own reading is an instruction's
    CHECK_LT(elapsed, 1.1f * ms);
    int rate = 0; // hipDeviceAttributeWallClockRate, since HIP 6
    OK(hipDeviceGetAttribute(&rate, static_cast<hipDeviceAttribute_t>(10017), 0));
    CHECK_EQ(rate, ticks_per_ms);
}

TEST_CASE("waves of a launch wait for a time side by side") {
    Waits code;
    Ints out(1);
    int *const data = out.data;
    int ticks = 20 * ticks_per_ms;
    void *params[] = {const_cast<int **>(&data), &ticks};
    const auto begin = Host::now();
    OK(hipModuleLaunchKernel(code["wait_for"], 1000, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    OK(hipDeviceSynchronize());
    CHECK_GE(ms_since(begin), 20);
    CHECK_LT(ms_since(begin), 10'000); // one after the other they would take 20 s
}

TEST_CASE("a wave that reads memory while it watches the time is not hurried") {
    Waits code;
    Ints out(2);
    constexpr int readings = 20'000, most_instructions = 12;
    OK(launch(code["poll"], 1, nullptr, out.data, readings));
    CHECK_LT(out.get()[1], readings * most_instructions / 25); // an instruction is 0.4 ns
}

extern "C" hipError_t set_pointer_attribute(const void *, int,
                                            void *) asm("hipPointerSetAttribute");

TEST_CASE("the host doesn't wait for a fill of device memory, nor for a copy within the device") {
    Code code;
    Waits waits;
    OwnStream stream; // which the null stream waits for
    Ints from(16), to(16), word(1);
    {
        Held held(code, stream, word.data);
        OK(hipMemset(from.data, 1, 64));
        OK(hipMemcpy(to.data, from.data, 64, hipMemcpyDeviceToDevice));
        FAILS(hipStreamQuery(nullptr), hipErrorNotReady);
        held.release();
    }
    CHECK_EQ(to.get()[15], 0x01010101);
    const int on = 1;
    constexpr int sync_memops = 6; // HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
    OK(set_pointer_attribute(&on, sync_memops, from.data));
    OK(launch(waits["wait_for"], 1, stream, word.data, 20 * ticks_per_ms));
    OK(hipMemcpy(to.data, from.data, 64, hipMemcpyDeviceToDevice));
    OK(hipStreamQuery(stream));
}

TEST_CASE("an empty kernel may have 2^31 - 1 workgroups, and no more") {
    Code code;
    const auto groups = [&](unsigned x) {
        return hipModuleLaunchKernel(code["no_args"], x, 1, 1, 1, 1, 1, 0, nullptr, nullptr,
                                     nullptr);
    };
    OK(groups(2147483647));
    OK(hipDeviceSynchronize());
    FAILS(groups(2147483648), hipErrorInvalidValue);
}

TEST_CASE("an empty kernel runs under all checkers, and leaves the host's arithmetic as it was") {
    const OwnDevice device("gfx1151?check=all");
    hipModule_t module = nullptr;
    hipFunction_t empty = nullptr;
    OK(hipModuleLoad(&module, code_path(device.gfx).c_str()));
    OK(hipModuleGetFunction(&empty, module, "no_args"));
    const unsigned mode = _mm_getcsr();
    OK(hipModuleLaunchKernel(empty, 1 << 20, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr));
    OK(hipDeviceSynchronize());
    CHECK_EQ(_mm_getcsr(), mode);
    OK(hipModuleUnload(module));
}

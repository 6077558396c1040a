// SPDX-License-Identifier: MIT
// Launches: arguments in both forms, hidden arguments, the checks of HIP 6.2, faults.
#include <cstdint>
#include <cstring>

#include "hip/common.h"

using namespace hip_test;

namespace {

struct IotaArgs {
    int *out;
    int first, n;
};

// `extra` in its documented order, or any other.
struct Extra {
    Extra(const void *block, std::size_t size) : bytes(size) {
        words = {HIP_LAUNCH_PARAM_BUFFER_POINTER, const_cast<void *>(block),
                 HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
    }
    std::size_t bytes;
    std::vector<void *> words;
};

hipError_t launch_extra(hipFunction_t function, Extra &extra, void **params = nullptr) {
    return hipModuleLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, params,
                                 extra.words.data());
}

struct Shape {
    unsigned grid[3] = {1, 1, 1}, block[3] = {32, 1, 1}, dynamic_lds = 0;
};

hipError_t launch_shape(hipFunction_t function, const Shape &shape, void *pointer) {
    void *params[] = {&pointer};
    const auto &[grid, block, dynamic_lds] = shape;
    return hipModuleLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                 dynamic_lds, nullptr, params, nullptr);
}

} // namespace

TEST_CASE("arguments as kernelParams and as extra") {
    Code code;
    Ints out(4, -1);
    SUBCASE("kernelParams") { OK(launch(code["iota"], 32, nullptr, out.data, 10, 3)); }
    SUBCASE("extra") {
        const IotaArgs args{out.data, 10, 3};
        Extra extra(&args, sizeof args);
        OK(launch_extra(code["iota"], extra));
    }
    CHECK(out.get() == std::vector<int>{10, 11, 12, -1});
}

TEST_CASE("extra in any other order is refused") {
    Code code;
    Ints out(4, -1);
    const IotaArgs args{out.data, 10, 3};
    const auto refused = [&](auto change) {
        Extra extra(&args, sizeof args);
        change(extra.words);
        FAILS(launch_extra(code["iota"], extra), hipErrorInvalidValue);
    };
    refused([](auto &words) { std::swap(words[0], words[2]), std::swap(words[1], words[3]); });
    refused([](auto &words) { words[4] = nullptr; });
    refused([](auto &words) { words[1] = nullptr; });
    refused([](auto &words) { words[3] = nullptr; });
    Extra extra(&args, sizeof args);
    void *pointer = out.data;
    void *params[] = {&pointer, &pointer, &pointer};
    FAILS(launch_extra(code["iota"], extra, params), hipErrorInvalidValue); // both forms
    FAILS(hipModuleLaunchKernel(code["iota"], 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr),
          hipErrorInvalidValue); // neither
    CHECK(out.get() == std::vector<int>(4, -1));
}

TEST_CASE("a size in extra that is too small: the rest is zero, and that is said") {
    Code code;
    Ints out(4, -1);
    const IotaArgs args{out.data, 10, 3};
    Extra extra(&args, 12); // n is cut off
    CapturedStderr said;
    OK(launch_extra(code["iota"], extra));
    CHECK(out.get() == std::vector<int>(4, -1));
    CHECK(said.text().find("HIP_LAUNCH_PARAM_BUFFER_SIZE says 12") != std::string::npos);
}

TEST_CASE("arguments that can't be read are refused") {
    Code code;
    void *const nowhere = reinterpret_cast<void *>(0x1000);
    void *params[] = {nowhere, nowhere, nowhere}, *nulls[] = {nullptr, nullptr, nullptr};
    const auto try_params = [&](void **list) {
        CapturedStderr said;
        FAILS(hipModuleLaunchKernel(code["iota"], 1, 1, 1, 32, 1, 1, 0, nullptr, list, nullptr),
              hipErrorInvalidValue);
    };
    try_params(params);
    try_params(nulls);
    try_params(static_cast<void **>(nowhere));
    Extra extra(nowhere, 16);
    CapturedStderr said;
    FAILS(launch_extra(code["iota"], extra), hipErrorInvalidValue);
}

TEST_CASE("a kernel without .args gets no arguments, and that is said once") {
    Code code;
    CapturedStderr said;
    int value = 0;
    OK(launch(code["no_args"], 32, nullptr, value));
    OK(launch(code["no_args"], 32, nullptr, value));
    OK(hipDeviceSynchronize());
    const std::string text = said.text();
    CHECK(text.find("no_args: its metadata has no .args") != std::string::npos);
    CHECK_EQ(text.find("no_args: "), text.rfind("no_args: "));
}

TEST_CASE("hidden arguments, as a kernel sees them") {
    Code code;
    Ints out(32, -1);
    const Shape shape{.grid = {3, 2, 4}, .block = {32, 2, 3}, .dynamic_lds = 1000};
    OK(launch_shape(code["dump"], shape, out.data));
    const auto words = out.get();
    const auto half = [&](std::size_t offset) {
        std::uint16_t value;
        std::memcpy(&value, reinterpret_cast<const char *>(words.data()) + offset, sizeof value);
        return value;
    };
    CHECK_EQ(words[2], 3); // block counts
    CHECK_EQ(words[3], 2);
    CHECK_EQ(words[4], 4);
    CHECK_EQ(half(20), 32); // group sizes
    CHECK_EQ(half(22), 2);
    CHECK_EQ(half(24), 3);
    CHECK_EQ(half(26), 0); // remainders: HIP's workgroups are full
    CHECK_EQ(half(28), 0);
    CHECK_EQ(half(30), 0);
    for (std::size_t word = 12; word < 18; ++word) // global offsets
        CHECK_EQ(words[word], 0);
    CHECK_EQ(half(72), 3);     // grid dimensions
    CHECK_EQ(words[30], 1000); // dynamic LDS
}

TEST_CASE("hidden grid dimensions count the used ones") {
    Code code;
    Ints out(32, -1);
    const auto dimensions = [&](const Shape &shape) {
        OK(launch_shape(code["dump"], shape, out.data));
        return out.get()[18] & 0xffff;
    };
    CHECK_EQ(dimensions({.grid = {5, 1, 1}}), 1);
    CHECK_EQ(dimensions({.grid = {1, 2, 1}}), 2);
    CHECK_EQ(dimensions({.block = {32, 1, 2}}), 3);
}

TEST_CASE("shapes that HIP refuses") {
    Code code;
    Ints out(32, -1);
    const hipFunction_t function = code["dump"];
    const auto refused = [&](const Shape &shape, const char *code_name) {
        CHECK_EQ(std::string(hipGetErrorName(launch_shape(function, shape, out.data))),
                 std::string(code_name));
    };
    for (int axis = 0; axis < 3; ++axis) {
        Shape no_grid, no_block;
        no_grid.grid[axis] = 0;
        no_block.block[axis] = 0;
        refused(no_grid, "hipErrorInvalidValue");
        refused(no_block, "hipErrorInvalidValue");
    }
    refused({.block = {1025, 1, 1}}, "hipErrorInvalidValue");
    refused({.block = {32, 33, 1}}, "hipErrorInvalidValue");
    refused({.block = {1u << 22, 1u << 22, 1u << 22}}, "hipErrorInvalidValue"); // wraps to 0
    refused({.grid = {1u << 28, 1, 1}}, "hipErrorInvalidConfiguration");        // 2^33 work-items
    refused({.grid = {1, 65537, 1}}, "hipErrorInvalidValue");
    refused({.grid = {1, 1, 65537}}, "hipErrorInvalidValue");
    CapturedStderr said;
    refused({.dynamic_lds = 65537}, "hipErrorInvalidValue");
    CHECK(said.text().find("65537 dynamic bytes of LDS") != std::string::npos);
    CHECK(out.get() == std::vector<int>(32, -1));
}

TEST_CASE("limits of the kernel itself") {
    Code code;
    int *none = nullptr;
    CapturedStderr said;
    FAILS(launch_shape(code["small"], {.block = {65, 1, 1}}, none), hipErrorLaunchFailure);
    CHECK(said.text().find(".max_flat_workgroup_size is 64") != std::string::npos);
    FAILS(launch_shape(code["small"], {.dynamic_lds = 25537}, none), hipErrorInvalidValue);
    OK(launch_shape(code["small"], {.block = {64, 1, 1}, .dynamic_lds = 25536}, none));
    OK(hipDeviceSynchronize());
}

TEST_CASE("a null or foreign function") {
    int value = 0;
    FAILS(launch_shape(nullptr, {}, nullptr), hipErrorInvalidHandle);
    FAILS(launch_shape(reinterpret_cast<hipFunction_t>(&value), {}, nullptr),
          hipErrorInvalidHandle);
}

TEST_CASE("a function runs on its module's device only") {
    Code code; // on device 0
    OK(hipSetDevice(1));
    hipStream_t stream = nullptr;
    OK(hipStreamCreate(&stream));
    int *none = nullptr;
    FAILS(launch(code["small"], 32, stream, none), hipErrorInvalidHandle);
    OK(hipStreamDestroy(stream));
    OK(hipSetDevice(0));
}

TEST_CASE("a memory fault: an error at the next wait, its text on stderr, and all lives on") {
    Code code;
    Ints out(1, -1), other(2, 7);
    int *null = nullptr;
    CapturedStderr said;
    std::string caught;
    OK(launch(code["read_at"], 1, nullptr, out.data, null));
    SUBCASE("hipDeviceSynchronize") { caught = hipGetErrorName(hipDeviceSynchronize()); }
    SUBCASE("hipStreamSynchronize") { caught = hipGetErrorName(hipStreamSynchronize(nullptr)); }
    SUBCASE("hipMemcpy") {
        int value = 5;
        caught = hipGetErrorName(hipMemcpy(&value, out.data, 4, hipMemcpyDeviceToHost));
        CHECK_EQ(value, 5); // nothing is copied as if all were well
    }
    SUBCASE("hipEventSynchronize") {
        hipEvent_t event = nullptr;
        OK(hipEventCreate(&event));
        OK(hipEventRecord(event, nullptr));
        caught = hipGetErrorName(hipEventSynchronize(event));
        OK(hipEventDestroy(event));
    }
    CHECK_EQ(caught, "hipErrorIllegalAddress");
    const std::string text = said.text();
    CHECK(text.find("hipsim: ") == 0);
    CHECK(text.find("read_at") != std::string::npos);
    OK(hipDeviceSynchronize()); // said once
    CHECK(other.get() == std::vector<int>(2, 7));
    OK(launch(code["read_at"], 1, nullptr, out.data, other.data));
    CHECK_EQ(out.get()[0], 7);
}

TEST_CASE("a kernel may not touch what is not allocated, nor another device's memory") {
    Code code;
    Ints out(1, -1);
    CapturedStderr said;
    SUBCASE("past the end") {
        Ints small(2, 7);
        OK(launch(code["read_at"], 1, nullptr, out.data, small.data + 2));
        FAILS(hipDeviceSynchronize(), hipErrorIllegalAddress);
    }
    SUBCASE("freed") {
        int *stale = nullptr;
        OK(hipMalloc(reinterpret_cast<void **>(&stale), 64));
        OK(hipFree(stale));
        OK(launch(code["read_at"], 1, nullptr, out.data, stale));
        FAILS(hipDeviceSynchronize(), hipErrorIllegalAddress);
    }
    SUBCASE("pageable host memory") {
        int on_stack = 3;
        OK(launch(code["read_at"], 1, nullptr, out.data, &on_stack));
        FAILS(hipDeviceSynchronize(), hipErrorIllegalAddress);
    }
    SUBCASE("another device's") {
        OK(hipSetDevice(1));
        Ints far(1, 9);
        OK(hipSetDevice(0));
        OK(launch(code["read_at"], 1, nullptr, out.data, far.data));
        FAILS(hipDeviceSynchronize(), hipErrorIllegalAddress);
    }
    CHECK_EQ(out.get()[0], -1);
}

TEST_CASE("a kernel may touch pinned host memory") {
    Code code;
    Ints out(1, -1);
    int *pinned = nullptr;
    OK(hipHostMalloc(reinterpret_cast<void **>(&pinned), 64, hipHostMallocMapped));
    *pinned = 11;
    OK(launch(code["read_at"], 1, nullptr, out.data, pinned));
    CHECK_EQ(out.get()[0], 11);
    OK(hipHostFree(pinned));
}

// SPDX-License-Identifier: MIT
// Copies and fills of rows and boxes, with what lies between the rows left alone.
#include <algorithm>
#include <numeric>

#include "hip/common.h"

using namespace hip_test;

// Since HIP 7.1.
extern "C" hipError_t fill_halves(hipDeviceptr_t, size_t, unsigned short, size_t,
                                  size_t) asm("hipMemsetD2D16");
extern "C" hipError_t fill_words_async(hipDeviceptr_t, size_t, unsigned, size_t, size_t,
                                       hipStream_t) asm("hipMemsetD2D32Async");

namespace {

constexpr std::size_t width = 12, height = 5, depth = 3; // bytes, rows, slices

std::vector<unsigned char> counted(std::size_t bytes) {
    std::vector<unsigned char> all(bytes);
    std::iota(all.begin(), all.end(), 1);
    return all;
}

// Device memory with `pitch` bytes per row, filled with 0xee.
struct Rows {
    explicit Rows(std::size_t rows) : rows(rows) {
        OK(hipMallocPitch(&data, &pitch, width, rows));
        OK(hipMemset(data, 0xee, pitch * rows));
    }
    ~Rows() { static_cast<void>(hipFree(data)); }
    std::vector<unsigned char> get() const {
        std::vector<unsigned char> all(pitch * rows);
        OK(hipMemcpy(all.data(), data, all.size(), hipMemcpyDeviceToHost));
        return all;
    }
    // Its rows equal those of `want`, and the gaps between them are unchanged.
    void check(const std::vector<unsigned char> &want) const {
        const auto all = get();
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t x = 0; x < pitch; ++x)
                REQUIRE_EQ(int{all[row * pitch + x]},
                           x < width ? int{want[row * width + x]} : 0xee);
    }
    void *data = nullptr;
    std::size_t pitch = 0, rows;
};

hipMemcpy3DParms box(const void *from, std::size_t from_pitch, void *to, std::size_t to_pitch) {
    hipMemcpy3DParms params{};
    params.srcPtr = {const_cast<void *>(from), from_pitch, width, height};
    params.dstPtr = {to, to_pitch, width, height};
    params.extent = {width, height, depth};
    params.kind = hipMemcpyDefault;
    return params;
}

} // namespace

TEST_CASE("hipMallocPitch pads rows, and refuses what can't be") {
    Rows rows(height);
    CHECK_GE(rows.pitch, width);
    CHECK_EQ(rows.pitch % 256, 0);
    void *data = nullptr;
    std::size_t pitch = 0;
    FAILS(hipMallocPitch(nullptr, &pitch, width, height), hipErrorInvalidValue);
    FAILS(hipMallocPitch(&data, nullptr, width, height), hipErrorInvalidValue);
    FAILS(hipMallocPitch(&data, &pitch, SIZE_MAX, height), hipErrorOutOfMemory);
    FAILS(hipMallocPitch(&data, &pitch, std::size_t{1} << 40, std::size_t{1} << 40),
          hipErrorOutOfMemory);
    OK(hipMallocPitch(&data, &pitch, width, 0));
    CHECK_EQ(data, nullptr);
    hipDeviceptr_t pointer = nullptr;
    FAILS(hipMemAllocPitch(&pointer, &pitch, width, height, 3), hipErrorInvalidValue);
    OK(hipMemAllocPitch(&pointer, &pitch, width, height, 4));
    OK(hipFree(pointer));
}

TEST_CASE("rows to the device and back") {
    const auto source = counted(width * height);
    Rows rows(height), others(height);
    OwnStream stream;
    SUBCASE("hipMemcpy2D") {
        OK(hipMemcpy2D(rows.data, rows.pitch, source.data(), width, width, height,
                       hipMemcpyHostToDevice));
    }
    SUBCASE("hipMemcpy2DAsync, by way of the device") {
        OK(hipMemcpy2DAsync(others.data, others.pitch, source.data(), width, width, height,
                            hipMemcpyHostToDevice, stream));
        OK(hipMemcpy2DAsync(rows.data, rows.pitch, others.data, others.pitch, width, height,
                            hipMemcpyDeviceToDevice, stream));
        OK(hipStreamSynchronize(stream));
    }
    SUBCASE("hipMemcpyParam2D") {
        hip_Memcpy2D params{};
        params.srcMemoryType = static_cast<hipMemoryType>(1); // host, as HIP 6 numbers it
        params.srcHost = source.data();
        params.dstMemoryType = static_cast<hipMemoryType>(2); // device
        params.dstDevice = rows.data;
        params.dstPitch = rows.pitch;
        params.WidthInBytes = width;
        params.Height = height;
        OK(hipMemcpyParam2D(&params));
    }
    rows.check(source);
    std::vector<unsigned char> back(width * height);
    OK(hipMemcpy2D(back.data(), width, rows.data, rows.pitch, width, height,
                   hipMemcpyDeviceToHost));
    CHECK(back == source);
}

TEST_CASE("rows that HIP refuses") {
    Rows rows(height);
    std::vector<unsigned char> host(width * height);
    const auto copy = [&](void *to, std::size_t to_pitch, std::size_t from_pitch, std::size_t w,
                          std::size_t h, int kind = hipMemcpyHostToDevice) {
        return hipMemcpy2D(to, to_pitch, host.data(), from_pitch, w, h,
                           static_cast<hipMemcpyKind>(kind));
    };
    FAILS(copy(rows.data, width - 1, width, width, height), hipErrorInvalidPitchValue);
    FAILS(copy(rows.data, rows.pitch, width - 1, width, height), hipErrorInvalidPitchValue);
    FAILS(copy(nullptr, rows.pitch, width, width, height), hipErrorInvalidValue);
    FAILS(copy(rows.data, rows.pitch, width, width, height + 1), hipErrorInvalidValue);
    FAILS(copy(rows.data, rows.pitch, width, width, height, 77), hipErrorInvalidMemcpyDirection);
    FAILS(copy(rows.data, SIZE_MAX, width, width, height), hipErrorInvalidValue);
    OK(copy(rows.data, rows.pitch, width, 0, height));
    OK(copy(rows.data, rows.pitch, width, width, 0));
    FAILS(hipMemcpyParam2D(nullptr), hipErrorInvalidValue);
    rows.check(std::vector<unsigned char>(width * height, 0xee));
}

TEST_CASE("boxes") {
    const auto source = counted(width * height * depth);
    Rows rows(height * depth);
    OwnStream stream;
    hipMemcpy3DParms params = box(source.data(), width, rows.data, rows.pitch);
    SUBCASE("hipMemcpy3D") { OK(hipMemcpy3D(&params)); }
    SUBCASE("hipMemcpy3DAsync") {
        OK(hipMemcpy3DAsync(&params, stream));
        OK(hipStreamSynchronize(stream));
    }
    rows.check(source);
    hipMemcpy3DParms part{}; // the last row of each slice
    std::vector<unsigned char> last(width * depth);
    part.srcPtr = {rows.data, rows.pitch, width, height};
    part.srcPos = {0, height - 1, 0};
    part.dstPtr = {last.data(), width, width, 1};
    part.extent = {width, 1, depth};
    part.kind = hipMemcpyDeviceToHost;
    OK(hipMemcpy3D(&part));
    for (std::size_t z = 0; z < depth; ++z)
        for (std::size_t x = 0; x < width; ++x)
            CHECK_EQ(int{last[z * width + x]}, int{source[(z * height + height - 1) * width + x]});
}

TEST_CASE("boxes that HIP refuses") {
    const auto source = counted(width * height * depth);
    Rows rows(height * depth);
    const hipMemcpy3DParms good = box(source.data(), width, rows.data, rows.pitch);
    const auto refused = [&](auto change, const char *code) {
        hipMemcpy3DParms params = good;
        change(params);
        CHECK_EQ(std::string(hipGetErrorName(hipMemcpy3D(&params))), std::string(code));
    };
    refused([](auto &p) { p.srcPtr.ptr = nullptr; }, "hipErrorInvalidValue");
    refused([](auto &p) { p.srcPtr.pitch = width - 1; }, "hipErrorInvalidPitchValue");
    refused([](auto &p) { p.dstPos.x = 500; }, "hipErrorInvalidValue");
    refused([](auto &p) { p.extent.depth = depth + 1; }, "hipErrorInvalidValue");
    refused([](auto &p) { p.dstPos.z = 1; }, "hipErrorInvalidValue");
    refused([](auto &p) { p.extent.depth = 0; }, "hipSuccess");
    FAILS(hipMemcpy3D(nullptr), hipErrorInvalidValue);
    refused([](auto &p) { p.srcArray = reinterpret_cast<hipArray *>(&p); },
            "hipErrorInvalidHandle");
}

TEST_CASE("fills of rows and boxes") {
    Rows rows(height * depth);
    OwnStream stream;
    std::vector<unsigned char> want(width * height * depth, 0xee);
    const auto fill_first = [&](std::size_t count, unsigned char value) {
        std::fill_n(want.begin(), static_cast<std::ptrdiff_t>(width * count), value);
    };
    SUBCASE("hipMemset2D") {
        OK(hipMemset2D(rows.data, rows.pitch, 7, width, height));
        fill_first(height, 7);
    }
    SUBCASE("hipMemset2DAsync") {
        OK(hipMemset2DAsync(rows.data, rows.pitch, 8, width, 2, stream));
        fill_first(2, 8);
    }
    SUBCASE("hipMemset3D") {
        OK(hipMemset3D({rows.data, rows.pitch, width, height}, 9, {width, height, depth}));
        fill_first(height * depth, 9);
    }
    SUBCASE("hipMemset3DAsync") {
        OK(hipMemset3DAsync({rows.data, rows.pitch, width, height}, 10, {width, height, 2},
                            stream));
        fill_first(height * 2, 10);
    }
    SUBCASE("hipMemsetD2D16 and 32 count elements") {
        OK(fill_halves(rows.data, rows.pitch, 0x0b0b, width / 2, height));
        OK(fill_words_async(rows.data, rows.pitch, 0x0c0c0c0c, width / 4, 1, stream));
        fill_first(height, 0x0b);
        fill_first(1, 0x0c);
    }
    OK(hipStreamSynchronize(stream));
    rows.check(want);
}

TEST_CASE("fills that HIP refuses") {
    Rows rows(height);
    FAILS(hipMemset2D(rows.data, width - 1, 1, width, height), hipErrorInvalidValue);
    FAILS(hipMemset2D(rows.data, rows.pitch, 1, width, height + 1), hipErrorInvalidValue);
    FAILS(hipMemset2D(nullptr, rows.pitch, 1, width, height), hipErrorInvalidValue);
    FAILS(hipMemset3D({rows.data, rows.pitch, width, height}, 1, {width, height, 2}),
          hipErrorInvalidValue);
    OK(hipMemset2D(nullptr, rows.pitch, 1, 0, height));
    rows.check(std::vector<unsigned char>(width * height, 0xee));
}

TEST_CASE("a copy over allocations that follow each other is one copy; over a gap it is none") {
    Ints one(64, 1);
    std::vector<int> host(128);
    FAILS(hipMemcpy(host.data(), one.data, 512, hipMemcpyDeviceToHost), hipErrorInvalidValue);
}

TEST_CASE("copies between devices and in a given stream") {
    Ints near(4, 5);
    OK(hipSetDevice(1));
    Ints far(4, 0);
    OwnStream stream;
    OK(hipMemcpyPeer(far.data, 1, near.data, 0, 16));
    CHECK(far.get() == std::vector<int>(4, 5));
    OK(hipMemsetD32(near.data, 6, 4));
    OK(hipMemcpyPeerAsync(far.data, 1, near.data, 0, 16, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(far.get() == std::vector<int>(4, 6));
    FAILS(hipMemcpyPeer(far.data, 2, near.data, 0, 16), hipErrorInvalidDevice);
    int word = 0;
    OK(hipMemcpyWithStream(&word, far.data, 4, hipMemcpyDeviceToHost, stream));
    CHECK_EQ(word, 6);
    OK(hipSetDevice(0));
}

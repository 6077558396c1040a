// SPDX-License-Identifier: MIT
// Allocation, copies, fills, pointer attributes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <sys/mman.h>

#include "hip/common.h"

using namespace hip_test;

namespace {

void *const foreign = reinterpret_cast<void *>(0x1000); // no page there

std::vector<std::uint8_t> numbered(std::size_t bytes) {
    std::vector<std::uint8_t> values(bytes);
    std::iota(values.begin(), values.end(), std::uint8_t{1});
    return values;
}

} // namespace

TEST_CASE("allocate and free") {
    void *p = &p;
    OK(hipMalloc(&p, 0));
    CHECK(p == nullptr);
    OK(hipMalloc(&p, 1000));
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(p) % 256, 0);
    std::size_t before = 0, after = 0, total = 0;
    OK(hipMemGetInfo(&before, &total));
    FAILS(hipFree(static_cast<char *>(p) + 8), hipErrorInvalidValue); // not its start
    FAILS(hipHostFree(p), hipErrorInvalidValue);                      // not host memory
    OK(hipFree(p));
    OK(hipMemGetInfo(&after, &total));
    CHECK_GT(after, before);
    FAILS(hipFree(p), hipErrorInvalidValue); // twice
    FAILS(hipFree(foreign), hipErrorInvalidValue);
    FAILS(hipFree(&p), hipErrorInvalidValue);
    OK(hipFree(nullptr));
    FAILS(hipMalloc(nullptr, 16), hipErrorInvalidValue);
    std::size_t only = 0;
    OK(hipMemGetInfo(&only, nullptr));
    CHECK_EQ(only, after);
    OK(hipMemGetInfo(nullptr, &only));
    CHECK_EQ(only, total);
}

TEST_CASE("too large is out of memory, and the process lives on") {
    void *p = nullptr;
    FAILS(hipMalloc(&p, SIZE_MAX), hipErrorOutOfMemory);
    FAILS(hipMalloc(&p, std::size_t{1} << 50), hipErrorOutOfMemory);
    CHECK(p == nullptr);
    FAILS(hipHostMalloc(&p, SIZE_MAX, 0), hipErrorOutOfMemory);
    OK(hipMalloc(&p, 16));
    OK(hipFree(p));
}

TEST_CASE("host memory is zero, also where other memory was before") {
    constexpr std::size_t sizes[] = {100, 70'000, 5'000'000};
    for (const std::size_t bytes : sizes)
        for (int n = 0; n < 400; ++n) { // more than are kept from reuse
            void *p = nullptr;
            OK(n % 2 ? hipHostMalloc(&p, bytes, 0)
                     : hipMallocManaged(&p, bytes, hipMemAttachGlobal));
            const auto begin = static_cast<std::uint8_t *>(p);
            CHECK_EQ(std::count(begin, begin + 100, 0), 100);
            CHECK_EQ(begin[bytes - 1], 0);
            std::memset(p, 0xff, 100);
            begin[bytes - 1] = 0xff;
            OK(n % 2 ? hipHostFree(p) : hipFree(p));
        }
}

TEST_CASE("host memory") {
    void *p = nullptr;
    OK(hipHostMalloc(&p, 4096, hipHostMallocDefault));
    static_cast<char *>(p)[4095] = 1;
    OK(hipHostFree(p));
    FAILS(hipHostFree(p), hipErrorInvalidValue);
    OK(hipHostMalloc(&p, 4096, hipHostMallocDefault));
    OK(hipFree(p)); // as on real ROCm
    FAILS(hipFree(p), hipErrorInvalidValue);
    OK(hipHostFree(nullptr));
    FAILS(hipHostMalloc(&p, 16, hipHostMallocCoherent | hipHostMallocNonCoherent),
          hipErrorInvalidValue);
    FAILS(hipHostMalloc(&p, 16, 0x800), hipErrorInvalidValue);
}

TEST_CASE("copies of every kind") {
    constexpr std::size_t bytes = 777;
    const auto from = numbered(bytes);
    std::vector<std::uint8_t> to(bytes);
    void *a = nullptr, *b = nullptr;
    OK(hipMalloc(&a, bytes));
    OK(hipMalloc(&b, bytes));
    hipStream_t stream = nullptr;
    OK(hipStreamCreate(&stream));

    SUBCASE("by kind") {
        OK(hipMemcpy(a, from.data(), bytes, hipMemcpyHostToDevice));
        OK(hipMemcpy(b, a, bytes, hipMemcpyDeviceToDevice));
        OK(hipMemcpy(to.data(), b, bytes, hipMemcpyDeviceToHost));
    }
    SUBCASE("default") {
        OK(hipMemcpy(a, from.data(), bytes, hipMemcpyDefault));
        OK(hipMemcpy(b, a, bytes, hipMemcpyDefault));
        OK(hipMemcpy(to.data(), b, bytes, hipMemcpyDefault));
    }
    SUBCASE("driver names") {
        OK(hipMemcpyHtoD(a, const_cast<std::uint8_t *>(from.data()), bytes));
        OK(hipMemcpyDtoD(b, a, bytes));
        OK(hipMemcpyDtoH(to.data(), b, bytes));
    }
    SUBCASE("driver names, asynchronous") {
        OK(hipMemcpyHtoDAsync(a, const_cast<std::uint8_t *>(from.data()), bytes, stream));
        OK(hipMemcpyDtoDAsync(b, a, bytes, stream));
        OK(hipMemcpyDtoHAsync(to.data(), b, bytes, stream));
        OK(hipStreamSynchronize(stream));
    }
    SUBCASE("asynchronous through pinned memory") {
        void *pinned = nullptr;
        OK(hipHostMalloc(&pinned, bytes, 0));
        OK(hipMemcpy(pinned, from.data(), bytes, hipMemcpyHostToHost));
        OK(hipMemcpyAsync(a, pinned, bytes, hipMemcpyHostToDevice, stream));
        OK(hipMemcpyAsync(b, a, bytes, hipMemcpyDeviceToDevice, stream));
        OK(hipMemsetAsync(pinned, 0, bytes, stream));
        OK(hipMemcpyAsync(pinned, b, bytes, hipMemcpyDeviceToHost, stream));
        OK(hipStreamSynchronize(stream));
        OK(hipMemcpy(to.data(), pinned, bytes, hipMemcpyDefault));
        OK(hipHostFree(pinned));
    }
    SUBCASE("host to host") { OK(hipMemcpy(to.data(), from.data(), bytes, hipMemcpyHostToHost)); }
    CHECK(to == from);
    OK(hipStreamDestroy(stream));
    OK(hipFree(a));
    OK(hipFree(b));
}

TEST_CASE("copies that must fail, and change nothing") {
    std::vector<std::uint8_t> host(64, 7);
    Ints device(16, 3);
    const std::size_t bytes = 64;
    FAILS(hipMemcpy(nullptr, host.data(), bytes, hipMemcpyHostToDevice), hipErrorInvalidValue);
    FAILS(hipMemcpy(device.data, nullptr, bytes, hipMemcpyHostToDevice), hipErrorInvalidValue);
    FAILS(hipMemcpy(device.data, host.data(), bytes + 1, hipMemcpyHostToDevice),
          hipErrorInvalidValue);
    FAILS(hipMemcpy(device.data + 15, host.data(), 8, hipMemcpyHostToDevice), hipErrorInvalidValue);
    FAILS(hipMemcpy(device.data, host.data(), SIZE_MAX, hipMemcpyHostToDevice),
          hipErrorInvalidValue);
    FAILS(hipMemcpy(device.data, host.data(), bytes, static_cast<hipMemcpyKind>(9)),
          hipErrorInvalidMemcpyDirection);
    FAILS(hipMemcpy(device.data, host.data(), bytes, static_cast<hipMemcpyKind>(-1)),
          hipErrorInvalidMemcpyDirection);
    FAILS(hipMemcpy(host.data(), foreign, bytes, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    FAILS(hipMemcpyDtoH(host.data(), host.data() + 32, 16), hipErrorInvalidValue);
    CHECK(device.get() == std::vector<int>(16, 3));
    CHECK(host == std::vector<std::uint8_t>(64, 7));
    OK(hipMemcpy(nullptr, nullptr, 0, hipMemcpyDefault)); // nothing to copy
}

TEST_CASE("a copy from or to unmapped host memory is an error, not a crash") {
    Ints device(16, 3);
    CapturedStderr said;
    FAILS(hipMemcpy(device.data, foreign, 64, hipMemcpyHostToDevice), hipErrorInvalidValue);
    FAILS(hipMemcpy(foreign, device.data, 64, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    FAILS(hipMemcpy(foreign, foreign, 64, hipMemcpyHostToHost), hipErrorInvalidValue);
    CHECK(said.text().find("unmapped host memory") != std::string::npos);
    CHECK(device.get() == std::vector<int>(16, 3));
}

TEST_CASE("a copy of much host memory is an error where one page of it is inaccessible") {
    constexpr std::size_t bytes = 1 << 20, page = 4096;
    std::uint8_t *device = nullptr;
    OK(hipMalloc(reinterpret_cast<void **>(&device), bytes));
    auto *const host = static_cast<std::uint8_t *>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(host != MAP_FAILED);
    const auto both = [&](hipError_t in, hipError_t out) {
        CHECK_EQ(hipMemcpy(device, host + 1, bytes - 1, hipMemcpyHostToDevice), in);
        CHECK_EQ(hipMemcpy(host + 1, device, bytes - 1, hipMemcpyDeviceToHost), out);
    };
    OK(hipMemset(device, 7, bytes));
    both(hipSuccess, hipSuccess); // of pages that nobody has touched
    CHECK(std::all_of(host, host + bytes, [](std::uint8_t b) { return b == 0; }));
    OK(hipMemset(device, 7, bytes));
    OK(hipMemcpy(host + 1, device, bytes - 1, hipMemcpyDeviceToHost));
    CHECK(std::all_of(host + 1, host + bytes, [](std::uint8_t b) { return b == 7; }));
    CHECK_EQ(host[0], 0);
    CapturedStderr said;
    mprotect(host + bytes / 2, page, PROT_READ);
    both(hipSuccess, hipErrorInvalidValue);
    mprotect(host + bytes / 2, page, PROT_NONE);
    both(hipErrorInvalidValue, hipErrorInvalidValue);
    munmap(host + bytes - page, page);
    mprotect(host + bytes / 2, page, PROT_READ | PROT_WRITE);
    both(hipErrorInvalidValue, hipErrorInvalidValue);
    munmap(host, bytes - page);
    OK(hipFree(device));
}

TEST_CASE("use after free is an error") {
    int *stale = nullptr, value = 0;
    {
        Ints gone(4);
        stale = gone.data;
    }
    FAILS(hipMemcpy(&value, stale, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
    FAILS(hipMemset(stale, 0, 4), hipErrorInvalidValue);
}

TEST_CASE("fills") {
    Ints device(4, 0);
    OK(hipMemset(device.data, 0x1ab, 4)); // the low byte counts
    OK(hipMemsetD8(device.data + 1, 0xcd, 4));
    OK(hipMemsetD16(device.data + 2, 0x1234, 1));
    OK(hipMemsetD32(device.data + 3, -2, 1));
    CHECK(device.get() ==
          std::vector<int>{static_cast<int>(0xabababab), static_cast<int>(0xcdcdcdcd), 0x1234, -2});
    hipStream_t stream = nullptr;
    OK(hipStreamCreate(&stream));
    OK(hipMemsetAsync(device.data, 1, 4, stream));
    OK(hipMemsetD8Async(device.data + 1, 2, 4, stream));
    OK(hipMemsetD16Async(device.data + 2, 3, 2, stream));
    OK(hipMemsetD32Async(device.data + 3, 4, 1, stream));
    OK(hipStreamSynchronize(stream));
    CHECK(device.get() == std::vector<int>{0x01010101, 0x02020202, 0x00030003, 4});
    OK(hipStreamDestroy(stream));

    OK(hipMemset(device.data, 0, 0));
    FAILS(hipMemset(device.data, 0, 17), hipErrorInvalidValue);
    FAILS(hipMemsetD32(device.data + 1, 0, 4), hipErrorInvalidValue);
    FAILS(hipMemsetD32(device.data, 0, SIZE_MAX / 2), hipErrorInvalidValue);
    FAILS(hipMemsetD16(reinterpret_cast<char *>(device.data) + 1, 0, 1), hipErrorInvalidValue);
    FAILS(hipMemset(nullptr, 0, 4), hipErrorInvalidValue);
    FAILS(hipMemset(foreign, 0, 4), hipErrorInvalidValue);
}

TEST_CASE("what a pointer is") {
    Ints device(8);
    void *pinned = nullptr;
    OK(hipHostMalloc(&pinned, 64, hipHostMallocMapped));
    int on_stack = 0;

    hipPointerAttribute_t attributes;
    const auto type = [&] { // the first field; HIP 6 renamed it
        int value;
        std::memcpy(&value, &attributes, sizeof value);
        return value;
    };
    OK(hipPointerGetAttributes(&attributes, device.data + 2));
    CHECK_EQ(type(), 2); // HIP 6: hipMemoryTypeDevice
    CHECK(attributes.devicePointer == device.data + 2);
    CHECK(attributes.hostPointer == nullptr);
    CHECK_EQ(attributes.device, 0);
    OK(hipPointerGetAttributes(&attributes, pinned));
    CHECK_EQ(type(), 1); // HIP 6: hipMemoryTypeHost
    CHECK(attributes.hostPointer == pinned);
    CHECK_EQ(attributes.allocationFlags, hipHostMallocMapped);
    OK(hipPointerGetAttributes(&attributes, &on_stack));
    CHECK_EQ(type(), 0); // HIP 6: hipMemoryTypeUnregistered
    FAILS(hipPointerGetAttributes(&attributes, nullptr), hipErrorInvalidValue);

    void *address = nullptr;
    OK(hipPointerGetAttribute(&address, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, device.data + 2));
    CHECK(address == device.data + 2);
    OK(hipPointerGetAttribute(&address, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, device.data + 2));
    CHECK(address == device.data);
    unsigned range[] = {0, 9}; // 4 bytes on AMD
    OK(hipPointerGetAttribute(range, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, device.data + 2));
    CHECK_EQ(range[0], 32);
    CHECK_EQ(range[1], 9);
    FAILS(hipPointerGetAttribute(&address, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, &on_stack),
          hipErrorInvalidValue);
    OK(hipHostFree(pinned));
}

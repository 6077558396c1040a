// SPDX-License-Identifier: MIT
// Devices, properties in both layouts, versions, contexts, hipGetProcAddress.
#include <array>
#include <cstdint>
#include <cstring>
#include <thread>

#include "hip/common.h"

using namespace hip_test;

extern "C" {
hipError_t hipGetDevicePropertiesR0000(void *prop, int device);
hipError_t hipGetDevicePropertiesR0600(void *prop, int device);
hipError_t hipGetProcAddress(const char *symbol, void **address, int version, std::uint64_t flags,
                             int *result);
}

namespace {

// hipDeviceProp_t as raw bytes, with a guard behind its end.
template <std::size_t Bytes> struct RawProp {
    std::array<char, Bytes> prop;
    std::array<char, 64> guard;
    RawProp() {
        prop.fill('#');
        guard.fill('#');
    }
    template <class T> T at(std::size_t offset) const {
        T value;
        std::memcpy(&value, prop.data() + offset, sizeof value);
        return value;
    }
    std::string text(std::size_t offset) const { return prop.data() + offset; }
    bool guard_untouched() const { return guard == RawProp().guard; }
};

} // namespace

TEST_CASE("two devices, by HIPSIM_ARCH") {
    int count = 0, ordinal = -1;
    OK(hipInit(0));
    FAILS(hipInit(7), hipErrorInvalidValue);
    OK(hipGetDeviceCount(&count));
    CHECK_EQ(count, 2);
    FAILS(hipGetDeviceCount(nullptr), hipErrorInvalidValue);
    OK(hipGetDevice(&ordinal));
    CHECK_EQ(ordinal, 0);
    OK(hipSetDevice(1));
    OK(hipGetDevice(&ordinal));
    CHECK_EQ(ordinal, 1);
    FAILS(hipSetDevice(2), hipErrorInvalidDevice);
    FAILS(hipSetDevice(-1), hipErrorInvalidDevice);
    OK(hipGetDevice(&ordinal));
    CHECK_EQ(ordinal, 1);
    OK(hipSetDevice(0));
    hipDevice_t device = -1;
    OK(hipDeviceGet(&device, 1));
    CHECK_EQ(device, 1);
    FAILS(hipDeviceGet(&device, 9), hipErrorInvalidDevice);
}

TEST_CASE("properties, layout R0000: 792 bytes") {
    RawProp<792> raw;
    SUBCASE("plain name") {
        OK(hipGetDeviceProperties(reinterpret_cast<hipDeviceProp_t *>(&raw), 0));
    }
    SUBCASE("R0000") { OK(hipGetDevicePropertiesR0000(&raw, 0)); }
    CHECK_EQ(raw.text(396), "gfx1151");
    CHECK_EQ(raw.at<int>(276), 32); // warpSize
    CHECK_EQ(raw.at<int>(336), 20); // multiProcessorCount: WGPs
    CHECK_EQ(raw.prop.back(), 0);   // written to its end
    CHECK(raw.guard_untouched());
}

TEST_CASE("properties, layout R0600: 1472 bytes") {
    RawProp<1472> raw;
    OK(hipGetDevicePropertiesR0600(&raw, 1));
    CHECK_EQ(raw.text(1160), "gfx1100");
    CHECK_EQ(raw.at<int>(308), 32);              // warpSize
    CHECK_EQ(raw.at<int>(388), 48);              // multiProcessorCount
    CHECK_EQ(raw.at<std::size_t>(296), 65536);   // sharedMemPerBlock
    CHECK_EQ(raw.at<int>(616), 6 * 1024 * 1024); // l2CacheSize
    CHECK_EQ(raw.prop.back(), 0);
    CHECK(raw.guard_untouched());
}

TEST_CASE("bad arguments of the properties") {
    RawProp<1472> raw;
    FAILS(hipGetDevicePropertiesR0600(nullptr, 0), hipErrorInvalidValue);
    FAILS(hipGetDevicePropertiesR0600(&raw, 5), hipErrorInvalidDevice);
    CHECK_EQ(raw.prop[0], '#');
}

TEST_CASE("attributes agree with the properties") {
    hipDeviceProp_t prop;
    OK(hipGetDeviceProperties(&prop, 0));
    const auto attribute = [](hipDeviceAttribute_t which) {
        int value = -1;
        OK(hipDeviceGetAttribute(&value, which, 0));
        return value;
    };
    CHECK_EQ(attribute(hipDeviceAttributeWarpSize), prop.warpSize);
    CHECK_EQ(attribute(hipDeviceAttributeMultiprocessorCount), prop.multiProcessorCount);
    CHECK_EQ(attribute(hipDeviceAttributeMaxThreadsPerBlock), 1024);
    CHECK_EQ(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock), 65536);
    CHECK_EQ(attribute(hipDeviceAttributeComputeCapabilityMajor), 11);
    CHECK_EQ(attribute(hipDeviceAttributeComputeCapabilityMinor), 5);
    CHECK_EQ(attribute(hipDeviceAttributeIntegrated), 1);
    CHECK_EQ(attribute(hipDeviceAttributeMaxGridDimY), 65536);
    CHECK_EQ(attribute(hipDeviceAttributeManagedMemory), 1);
    CHECK_EQ(attribute(hipDeviceAttributeCooperativeLaunch), 1);
    CHECK_EQ(attribute(hipDeviceAttributeMemoryPoolsSupported), 1);
    CHECK_EQ(attribute(hipDeviceAttributeCooperativeMultiDeviceLaunch), 1);
    CHECK_EQ(attribute(hipDeviceAttributeEccEnabled), 0);
    CHECK_EQ(attribute(hipDeviceAttributeImageSupport), 1);
    CHECK_EQ(attribute(hipDeviceAttributeMaxSurface1D), prop.maxTexture1D);
    CHECK_EQ(attribute(hipDeviceAttributeSurfaceAlignment), prop.textureAlignment);
    CHECK_EQ(attribute(hipDeviceAttributeStreamPrioritiesSupported), 1);
    CHECK_EQ(attribute(hipDeviceAttributeDeviceOverlap), 1);
    int value = 0;
    FAILS(hipDeviceGetAttribute(&value, static_cast<hipDeviceAttribute_t>(5000), 0),
          hipErrorInvalidValue);
    FAILS(hipDeviceGetAttribute(nullptr, hipDeviceAttributeWarpSize, 0), hipErrorInvalidValue);
    FAILS(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 3), hipErrorInvalidDevice);
}

TEST_CASE("names and sizes") {
    char name[256] = "", cut[6];
    OK(hipDeviceGetName(name, sizeof name, 0));
    CHECK_GT(std::strlen(name), 0);
    OK(hipDeviceGetName(cut, sizeof cut, 0));
    CHECK_EQ(std::string(cut), std::string(name).substr(0, 5));
    FAILS(hipDeviceGetName(nullptr, 4, 0), hipErrorInvalidValue);
    std::size_t total = 0, free = 0, total_again = 0;
    OK(hipDeviceTotalMem(&total, 0));
    OK(hipMemGetInfo(&free, &total_again));
    CHECK_EQ(total, total_again);
    CHECK_LE(free, total);
    CHECK_GT(total, std::size_t{1} << 28);
}

TEST_CASE("contexts are the devices") {
    hipCtx_t first = nullptr, second = nullptr, current = nullptr;
    OK(hipDevicePrimaryCtxRetain(&first, 0));
    OK(hipDevicePrimaryCtxRetain(&second, 1));
    CHECK(first != second);
    OK(hipCtxGetCurrent(&current));
    CHECK(current == first);
    OK(hipCtxSetCurrent(second));
    int ordinal = -1;
    OK(hipGetDevice(&ordinal));
    CHECK_EQ(ordinal, 1);
    OK(hipCtxSetCurrent(first));
    FAILS(hipCtxSetCurrent(reinterpret_cast<hipCtx_t>(&ordinal)), hipErrorInvalidContext);
    OK(hipDevicePrimaryCtxRelease(0));
    OK(hipDevicePrimaryCtxRelease(1));
}

TEST_CASE("hipGetProcAddress") {
    void *address = nullptr;
    int result = -1;
    OK(hipGetProcAddress("hipMalloc", &address, 60'200'000, 0, &result));
    CHECK(address ==
          reinterpret_cast<void *>(static_cast<hipError_t (*)(void **, std::size_t)>(&hipMalloc)));
    CHECK_EQ(result, 0);
    // Hosts of ROCm 6 say the plain name and mean the layout of their headers.
    OK(hipGetProcAddress("hipGetDeviceProperties", &address, 60'200'000, 0, nullptr));
    CHECK(address == reinterpret_cast<void *>(&hipGetDevicePropertiesR0600));
    OK(hipGetProcAddress("hipGetDeviceProperties", &address, 50'200'000, 0, nullptr));
    CHECK(address != reinterpret_cast<void *>(&hipGetDevicePropertiesR0600));
    void *choose = nullptr, *newer = nullptr;
    OK(hipGetProcAddress("hipChooseDevice", &choose, 60'200'000, 0, nullptr));
    OK(hipGetProcAddress("hipChooseDeviceR0600", &newer, 60'200'000, 0, nullptr));
    CHECK_EQ(choose, newer);
    OK(hipGetProcAddress("hipChooseDevice", &choose, 50'200'000, 0, nullptr));
    CHECK_NE(choose, newer);
    FAILS(hipGetProcAddress("hipNoSuchThing", &address, 60'200'000, 0, &result),
          hipErrorInvalidValue);
    CHECK_EQ(result, 1);
    CHECK(address == nullptr);
}

TEST_CASE("each thread has its own current device") {
    OK(hipSetDevice(1));
    int other = -1;
    std::thread([&] { static_cast<void>(hipGetDevice(&other)); }).join();
    CHECK_EQ(other, 0);
    OK(hipSetDevice(0));
}

// SPDX-License-Identifier: MIT
// Equivalent calls, by the name that a driver, a context, an older or a newer HIP has
// for it; and questions that few hosts ask.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "hip/common.h"

using namespace hip_test;

namespace {

struct DriverBox { // HIP_MEMCPY3D as the library of HIP 6 has it
    struct Side {
        std::size_t x, y, z, lod;
        int type; // 1: host, 2: device
        const void *host, *device;
        void *array;
        std::size_t pitch, height;
    };
    Side from, to;
    std::size_t width, height, depth;
};

struct OnDevice {
    explicit OnDevice(int ordinal) { OK(hipSetDevice(ordinal)); }
    ~OnDevice() { static_cast<void>(hipSetDevice(0)); }
};

} // namespace

#define NEWER(name, symbol, ...) extern "C" hipError_t name(__VA_ARGS__) asm(symbol)
NEWER(host_alloc, "hipHostAlloc", void **, std::size_t, unsigned);
NEWER(malloc_host, "hipMallocHost", void **, std::size_t);
NEWER(driver_malloc_host, "hipMemAllocHost", void **, std::size_t);
NEWER(free_host, "hipFreeHost", void *);
NEWER(driver_box_async, "hipDrvMemcpy3DAsync", const DriverBox *, hipStream_t);
NEWER(rows_d8, "hipMemsetD2D8", void *, std::size_t, unsigned char, std::size_t, std::size_t);
NEWER(rows_d8_async, "hipMemsetD2D8Async", void *, std::size_t, unsigned char, std::size_t,
      std::size_t, hipStream_t);
NEWER(rows_d16, "hipMemsetD2D16", void *, std::size_t, unsigned short, std::size_t, std::size_t);
NEWER(rows_d16_async, "hipMemsetD2D16Async", void *, std::size_t, unsigned short, std::size_t,
      std::size_t, hipStream_t);
NEWER(rows_d32, "hipMemsetD2D32", void *, std::size_t, unsigned, std::size_t, std::size_t);
NEWER(rows_d32_async, "hipMemsetD2D32Async", void *, std::size_t, unsigned, std::size_t,
      std::size_t, hipStream_t);
NEWER(set_pointer_attribute, "hipPointerSetAttribute", const void *, int, void *);
NEWER(choose_r0000, "hipChooseDeviceR0000", int *, const void *);
NEWER(choose_r0600, "hipChooseDeviceR0600", int *, const void *);
NEWER(link_and_hops, "hipExtGetLinkTypeAndHopCount", int, int, std::uint32_t *, std::uint32_t *);
NEWER(set_valid_devices, "hipSetValidDevices", int *, int);
NEWER(stream_device, "hipStreamGetDevice", hipStream_t, int *);
NEWER(stream_id, "hipStreamGetId", hipStream_t, unsigned long long *);
NEWER(context_version, "hipCtxGetApiVersion", hipCtx_t, unsigned *);
NEWER(lds_left, "hipOccupancyAvailableDynamicSMemPerBlock", std::size_t *, const void *, int, int);
#undef NEWER
extern "C" int device_of_stream(hipStream_t) asm("hipGetStreamDeviceId");
extern "C" const char *call_name(std::uint32_t) asm("hipApiName");
extern "C" const char *command_name(unsigned) asm("hipGetCmdName");
extern "C" const char *kernel_name(hipFunction_t) asm("hipKernelNameRef");
extern "C" int hipsim_marker();
extern "C" unsigned short to_half(float) asm("__gnu_f2h_ieee");
extern "C" float from_half(unsigned short) asm("__gnu_h2f_ieee");

TEST_CASE("memory by its other names") {
    Code code;
    int *pinned = nullptr;
    void **const out = reinterpret_cast<void **>(&pinned);
    SUBCASE("hipHostAlloc") { OK(host_alloc(out, 64, hipHostMallocMapped)); }
    SUBCASE("hipMallocHost") { OK(malloc_host(out, 64)); }
    SUBCASE("hipMemAllocHost") { OK(driver_malloc_host(out, 64)); }
    *pinned = 6;
    OK(launch(code["increment"], 1, nullptr, pinned));
    OK(hipDeviceSynchronize());
    CHECK_EQ(*pinned, 7);
    OK(free_host(pinned));
    FAILS(free_host(pinned), hipErrorInvalidValue);
    FAILS(host_alloc(out, 64, 1u << 20), hipErrorInvalidValue);
    FAILS(malloc_host(nullptr, 64), hipErrorInvalidValue);
}

TEST_CASE("memory with flags, and for boxes") {
    void *data = nullptr;
    constexpr unsigned signal = 2;
    for (const unsigned flags : {0u, 1u, signal, 3u}) { // default, fine-grained, uncached
        OK(hipExtMallocWithFlags(&data, flags == signal ? 8 : 64, flags));
        OK(hipFree(data));
    }
    FAILS(hipExtMallocWithFlags(&data, 64, signal), hipErrorInvalidValue);
    FAILS(hipExtMallocWithFlags(&data, 64, 77), hipErrorInvalidValue);
    FAILS(hipExtMallocWithFlags(nullptr, 64, 0), hipErrorInvalidValue);
    hipPitchedPtr box{};
    OK(hipMalloc3D(&box, {100, 3, 2}));
    CHECK_EQ(box.pitch, 256);
    CHECK_EQ(box.xsize, 100);
    CHECK_EQ(box.ysize, 3);
    std::size_t bytes = 0;
    OK(hipMemGetAddressRange(nullptr, &bytes, box.ptr));
    CHECK_EQ(bytes, 256 * 3 * 2);
    OK(hipFree(box.ptr));
    FAILS(hipMalloc3D(nullptr, {1, 1, 1}), hipErrorInvalidValue);
    FAILS(hipMalloc3D(&box, {std::size_t{1} << 40, 1 << 20, 1 << 20}), hipErrorOutOfMemory);
}

TEST_CASE("the driver's copies of rows and boxes") {
    const int values[] = {1, 2, 3, 4};
    Ints target(4, 0);
    hip_Memcpy2D rows{};
    rows.srcMemoryType = static_cast<hipMemoryType>(1); // HIP 6's numbers
    rows.dstMemoryType = static_cast<hipMemoryType>(2);
    rows.srcHost = values;
    rows.dstDevice = target.data;
    rows.srcArray = rows.dstArray = reinterpret_cast<hipArray *>(0x10); // the types say: not these
    rows.srcPitch = rows.dstPitch = rows.WidthInBytes = 8;
    rows.Height = 2;
    DriverBox box{};
    box.from.type = 1;
    box.to.type = 2;
    box.from.host = values;
    box.to.device = target.data;
    box.width = 8;
    box.height = 2;
    box.depth = 1;
    SUBCASE("hipDrvMemcpy2DUnaligned") { OK(hipDrvMemcpy2DUnaligned(&rows)); }
    SUBCASE("hipMemcpyParam2DAsync") { OK(hipMemcpyParam2DAsync(&rows, nullptr)); }
    SUBCASE("hipDrvMemcpy3DAsync") { OK(driver_box_async(&box, nullptr)); }
    DriverBox narrow = box; // hipMemcpy3D has a code of its own for that
    narrow.to.pitch = narrow.width - 1;
    FAILS(driver_box_async(&narrow, nullptr), hipErrorInvalidValue);
    CHECK(target.get() == std::vector<int>{1, 2, 3, 4});
    rows.dstY = 2; // the row after the last: not somebody else's memory
    FAILS(hipDrvMemcpy2DUnaligned(&rows), hipErrorInvalidValue);
    rows.dstY = 0;
    rows.dstDevice = nullptr;
    FAILS(hipDrvMemcpy2DUnaligned(&rows), hipErrorInvalidValue);
    FAILS(hipDrvMemcpy2DUnaligned(nullptr), hipErrorInvalidValue);
    FAILS(hipMemcpyParam2DAsync(nullptr, nullptr), hipErrorInvalidValue);
    FAILS(driver_box_async(nullptr, nullptr), hipErrorInvalidValue);
}

TEST_CASE("fills of rows, by elements") {
    Ints target(4, 0);
    SUBCASE("bytes") {
        OK(rows_d8(target.data, 8, 1, 4, 1));
        OK(rows_d8_async(target.data + 2, 8, 1, 4, 1, nullptr));
    }
    SUBCASE("halves") {
        OK(rows_d16(target.data, 8, 0x101, 2, 1));
        OK(rows_d16_async(target.data + 2, 8, 0x101, 2, 1, nullptr));
    }
    SUBCASE("words") {
        OK(rows_d32(target.data, 8, 0x01010101, 1, 1));
        OK(rows_d32_async(target.data + 2, 8, 0x01010101, 1, 1, nullptr));
    }
    CHECK(target.get() == std::vector<int>{0x01010101, 0, 0x01010101, 0});
    FAILS(rows_d32(target.data, 8, 0, 3, 2), hipErrorInvalidValue); // wider than the pitch
    FAILS(rows_d16_async(target.data, 8, 0, 4, 3, nullptr), hipErrorInvalidValue);
}

TEST_CASE("several attributes of a pointer, and of a range") {
    Ints data(4);
    std::uint64_t start = 9, size = 9;
    int ordinal = 9;
    std::array<hipPointer_attribute, 3> which{HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                              HIP_POINTER_ATTRIBUTE_RANGE_SIZE,
                                              HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    std::array<void *, 3> to{&start, &size, &ordinal};
    OK(hipDrvPointerGetAttributes(3, which.data(), to.data(), data.data + 1));
    CHECK_EQ(start, reinterpret_cast<std::uint64_t>(data.data));
    CHECK_EQ(size, 16);
    CHECK_EQ(ordinal, 0);
    FAILS(hipDrvPointerGetAttributes(0, which.data(), to.data(), data.data), hipErrorInvalidValue);
    FAILS(hipDrvPointerGetAttributes(3, nullptr, to.data(), data.data), hipErrorInvalidValue);
    const int sync = 1, sync_memops = HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    OK(set_pointer_attribute(&sync, sync_memops, data.data));
    FAILS(set_pointer_attribute(&sync, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, data.data),
          hipErrorInvalidValue);
    FAILS(set_pointer_attribute(&sync, sync_memops, &ordinal), hipErrorInvalidDevicePointer);

    void *shared = nullptr;
    OK(hipMallocManaged(&shared, 4096, hipMemAttachGlobal));
    OK(hipMemAdvise(shared, 4096, hipMemAdviseSetReadMostly, 0));
    int read_mostly = 9, preferred = 9;
    std::array<void *, 2> places{&read_mostly, &preferred};
    std::array<std::size_t, 2> bytes{4, 4};
    std::array<hipMemRangeAttribute, 2> asked{hipMemRangeAttributeReadMostly,
                                              hipMemRangeAttributePreferredLocation};
    OK(hipMemRangeGetAttributes(places.data(), bytes.data(), asked.data(), 2, shared, 4096));
    CHECK_EQ(read_mostly, 1);
    CHECK_EQ(preferred, -2);
    bytes[1] = 3;
    FAILS(hipMemRangeGetAttributes(places.data(), bytes.data(), asked.data(), 2, shared, 4096),
          hipErrorInvalidValue);
    OwnStream stream;
    OK(hipStreamAttachMemAsync(stream, shared, 0, hipMemAttachSingle));
    FAILS(hipStreamAttachMemAsync(stream, shared, 0, 9), hipErrorInvalidValue);
    FAILS(hipStreamAttachMemAsync(stream, data.data, 0, hipMemAttachSingle), hipErrorInvalidValue);
    OK(hipFree(shared));
}

TEST_CASE("mapped memory by its address, and its properties") {
    hipMemAllocationProp prop{}, seen{};
    prop.type = hipMemAllocationTypePinned;
    prop.location = {hipMemLocationTypeDevice, 0};
    constexpr std::size_t bytes = 2 << 20;
    hipMemGenericAllocationHandle_t handle = nullptr, again = nullptr;
    void *range = nullptr;
    OK(hipMemCreate(&handle, bytes, &prop, 0));
    OK(hipMemGetAllocationPropertiesFromHandle(&seen, handle));
    CHECK_EQ(seen.location.type, hipMemLocationTypeDevice);
    OK(hipMemAddressReserve(&range, bytes, 0, nullptr, 0));
    FAILS(hipMemRetainAllocationHandle(&again, range), hipErrorInvalidValue); // not mapped yet
    OK(hipMemMap(range, bytes, 0, handle, 0));
    OK(hipMemRetainAllocationHandle(&again, range));
    CHECK_EQ(again, handle);
    OK(hipMemRelease(again));
    OK(hipMemRelease(handle)); // once for each
    OK(hipMemUnmap(range, bytes));
    OK(hipMemAddressFree(range, bytes));
    FAILS(hipMemRelease(handle), hipErrorInvalidValue);
    FAILS(hipMemGetAllocationPropertiesFromHandle(&seen, handle), hipErrorInvalidValue);
    FAILS(hipMemGetAllocationPropertiesFromHandle(nullptr, handle), hipErrorInvalidValue);
}

TEST_CASE("contexts ask and set what devices do") {
    unsigned flags = 9, version = 0;
    hipFuncCache_t cache{};
    hipSharedMemConfig banks{};
    hipCtx_t here = nullptr, there = nullptr;
    OK(hipCtxGetCurrent(&here));
    OK(hipDevicePrimaryCtxRetain(&there, 1));
    OK(hipCtxGetFlags(&flags));
    CHECK_EQ(flags, 0);
    OK(hipCtxSetCacheConfig(hipFuncCachePreferShared));
    OK(hipCtxGetCacheConfig(&cache));
    CHECK_EQ(cache, hipFuncCachePreferShared);
    OK(hipCtxSetCacheConfig(hipFuncCachePreferNone));
    OK(hipCtxSetSharedMemConfig(hipSharedMemBankSizeEightByte));
    OK(hipCtxGetSharedMemConfig(&banks));
    CHECK_EQ(banks, hipSharedMemBankSizeFourByte); // as the hardware is
    OK(hipDeviceSetSharedMemConfig(hipSharedMemBankSizeDefault));
    OK(hipDeviceGetSharedMemConfig(&banks));
    CHECK_EQ(banks, hipSharedMemBankSizeFourByte);
    FAILS(hipDeviceSetSharedMemConfig(static_cast<hipSharedMemConfig>(9)), hipErrorInvalidValue);
    FAILS(hipCtxGetSharedMemConfig(nullptr), hipErrorInvalidValue);
    OK(context_version(here, &version));
    CHECK_GT(version, 0);
    FAILS(context_version(reinterpret_cast<hipCtx_t>(&version), &version), hipErrorInvalidContext);
    OK(hipCtxEnablePeerAccess(there, 0));
    FAILS(hipCtxEnablePeerAccess(there, 0), hipErrorPeerAccessAlreadyEnabled);
    OK(hipCtxDisablePeerAccess(there));
    FAILS(hipCtxDisablePeerAccess(there), hipErrorPeerAccessNotEnabled);
    FAILS(hipCtxEnablePeerAccess(nullptr, 0), hipErrorInvalidContext);
    FAILS(hipDevicePrimaryCtxSetFlags(0, 0), hipErrorContextAlreadyInUse);
    OK(hipDevicePrimaryCtxReset(0));
    FAILS(hipDevicePrimaryCtxReset(9), hipErrorInvalidDevice);
    OK(hipDevicePrimaryCtxRelease(1));
}

TEST_CASE("devices: by wish, by list, and what is between them") {
    int device = -1;
    std::array<int, 1472 / 4>
        wish{}; // of R0600; multiProcessorCount is at byte 388, R0000's at 336
    wish[388 / 4] = 40;
    OK(choose_r0600(&device, wish.data()));
    CHECK_EQ(device, 1);
    wish = {};
    wish[336 / 4] = 40;
    OK(choose_r0000(&device, wish.data()));
    CHECK_EQ(device, 1);
    FAILS(choose_r0600(nullptr, wish.data()), hipErrorInvalidValue);
    int value = -1;
    OK(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 1));
    CHECK_EQ(value, 1);
    FAILS(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 0),
          hipErrorInvalidValue);
    FAILS(hipDeviceGetP2PAttribute(&value, hipDevP2PAttrAccessSupported, 0, 5),
          hipErrorInvalidDevice);
    std::uint32_t link = 0, hops = 0;
    OK(link_and_hops(0, 1, &link, &hops));
    CHECK_EQ(hops, 1);
    FAILS(link_and_hops(0, 1, nullptr, &hops), hipErrorInvalidValue);
    FAILS(link_and_hops(0, -1, &link, &hops), hipErrorInvalidValue);
    FAILS(link_and_hops(0, 9, &link, &hops), hipErrorInvalidDevice);
    std::array<int, 2> list{1, 0};
    OK(set_valid_devices(list.data(), 2));
    OK(hipGetDevice(&device));
    CHECK_EQ(device, 1);
    OK(set_valid_devices(nullptr, 0)); // as it was
    OK(hipGetDevice(&device));
    CHECK_EQ(device, 0);
    list[1] = 7;
    FAILS(set_valid_devices(list.data(), 2), hipErrorInvalidDevice);
    int driver = 0, runtime = 1;
    OK(hipDriverGetVersion(&driver));
    OK(hipRuntimeGetVersion(&runtime));
    CHECK_EQ(driver, runtime);
    FAILS(hipDriverGetVersion(nullptr), hipErrorInvalidValue);
}

TEST_CASE("streams: whose they are, and which compute units they may use") {
    int device = -1, least = 9, greatest = 9;
    unsigned long long id = 0, other_id = 0;
    OwnStream here;
    OK(stream_device(here, &device));
    CHECK_EQ(device, 0);
    OK(stream_id(here, &id));
    {
        OnDevice there(1);
        OwnStream stream;
        OK(stream_device(stream, &device));
        CHECK_EQ(device, 1);
        CHECK_EQ(device_of_stream(stream), 1);
        OK(stream_id(stream, &other_id));
        CHECK(id != other_id);
    }
    FAILS(stream_device(here, nullptr), hipErrorInvalidValue);
    FAILS(stream_id(here, nullptr), hipErrorInvalidValue);
    OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK_EQ(least, 1); // as numbers: the greatest priority is the lowest
    CHECK_EQ(greatest, -1);
    for (const int wish : {-7, -1, 0, 1, 2}) {
        hipStream_t made = nullptr;
        int priority = 9;
        OK(hipStreamCreateWithPriority(&made, hipStreamDefault, wish));
        OK(hipStreamGetPriority(made, &priority));
        CHECK_EQ(priority, std::clamp(wish, greatest, least));
        OK(hipStreamDestroy(made));
    }

    hipStream_t masked = nullptr;
    const std::uint32_t mask[] = {0x0f};
    std::uint32_t seen[] = {0, 0};
    OK(hipExtStreamCreateWithCUMask(&masked, 1, mask));
    OK(hipExtStreamGetCUMask(masked, 2, seen));
    CHECK_EQ(seen[0], 0x0f);
    OK(hipExtStreamGetCUMask(here, 2, seen)); // all
    CHECK_EQ(seen[0], (1u << 20) - 1);
    FAILS(hipExtStreamCreateWithCUMask(&masked, 0, mask), hipErrorInvalidValue);
    FAILS(hipExtStreamGetCUMask(here, 0, seen), hipErrorInvalidValue);
    OK(hipStreamDestroy(masked));
    FAILS(hipExtStreamGetCUMask(masked, 2, seen), hipErrorContextIsDestroyed);
}

TEST_CASE("functions: settings that change nothing, and more about occupancy") {
    Code code;
    const hipFunction_t iota = code["iota"];
    const void *const named = reinterpret_cast<void *>(iota);
    OK(hipFuncSetAttribute(named, hipFuncAttributeMaxDynamicSharedMemorySize, 4096));
    OK(hipFuncSetAttribute(named, hipFuncAttributePreferredSharedMemoryCarveout,
                           -1)); // the default
    FAILS(hipFuncSetAttribute(named, hipFuncAttributePreferredSharedMemoryCarveout, -2),
          hipErrorInvalidValue);
    FAILS(hipFuncSetAttribute(named, hipFuncAttributeMaxDynamicSharedMemorySize, -1),
          hipErrorInvalidValue);
    FAILS(hipFuncSetAttribute(nullptr, hipFuncAttributeMaxDynamicSharedMemorySize, 4096),
          hipErrorInvalidDeviceFunction);
    OK(hipFuncSetSharedMemConfig(named, hipSharedMemBankSizeFourByte));
    FAILS(hipFuncSetSharedMemConfig(named, static_cast<hipSharedMemConfig>(9)),
          hipErrorInvalidValue);
    FAILS(hipFuncSetSharedMemConfig(nullptr, hipSharedMemBankSizeFourByte),
          hipErrorInvalidDeviceFunction);
    int blocks = 0, grid = 0, size = 0;
    OK(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, named, 256, 0, 0));
    CHECK_EQ(blocks, 8);
    FAILS(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, named, 256, 0, 8),
          hipErrorInvalidValue);
    OK(hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&grid, &size, iota, 0, 0, 0));
    CHECK_EQ(size, 1024);
    FAILS(hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&grid, &size, nullptr, 0, 0, 0),
          hipErrorInvalidValue);
    std::size_t bytes = 0;
    OK(lds_left(&bytes, named, 4, 64)); // four share the WGP's 128 KiB
    CHECK_EQ(bytes, 32 << 10);
    FAILS(lds_left(&bytes, named, 0, 64), hipErrorInvalidValue);
}

TEST_CASE("what the library gives to tracers and compilers") {
    CHECK_EQ(std::string(call_name(3)), "unknown");
    CHECK_EQ(std::string(command_name(3)), "unknown");
    Code code;
    CHECK_EQ(std::string(kernel_name(code["iota"])), "iota");
    CHECK_EQ(kernel_name(nullptr), nullptr);
    CHECK_EQ(kernel_name(reinterpret_cast<hipFunction_t>(&code)), nullptr); // no kernel
    CHECK_EQ(hipsim_marker(), 1); // exported by the simulated GPU only
    CHECK_EQ(to_half(1.5f), 0x3e00);
    CHECK_EQ(to_half(70000.0f), 0x7c00);
    CHECK_EQ(from_half(0xc000), -2.0f);
    CHECK_EQ(from_half(0x0001), 0x1p-24f);
}

// SPDX-License-Identifier: MIT
// hipMallocAsync and its pools.
#include <cstdint>

#include "hip/common.h"

using namespace hip_test;

namespace {

std::uint64_t amount(hipMemPool_t pool, hipMemPoolAttr which) {
    std::uint64_t bytes = 0;
    OK(hipMemPoolGetAttribute(pool, which, &bytes));
    return bytes;
}

struct OwnPool {
    explicit OwnPool(int device = 0) {
        hipMemPoolProps props{};
        props.allocType = hipMemAllocationTypePinned;
        props.location = {hipMemLocationTypeDevice, device};
        OK(hipMemPoolCreate(&handle, &props));
    }
    ~OwnPool() { static_cast<void>(hipMemPoolDestroy(handle)); }
    operator hipMemPool_t() const { return handle; }
    hipMemPool_t handle = nullptr;
};

} // namespace

TEST_CASE("stream-ordered memory: there at once, gone in order") {
    Code code;
    OwnStream stream;
    int *data = nullptr;
    OK(hipMallocAsync(reinterpret_cast<void **>(&data), 4, stream));
    OK(hipMemsetD32Async(data, 0, 1, stream));
    Ints out(1, -1);
    {
        Held held(code, stream, data); // the free must not get ahead of it
        OK(launch(code["read_at"], 1, stream, out.data, data));
        OK(hipFreeAsync(data, stream));
        FAILS(hipMemsetD32(data, 0, 1), hipErrorInvalidValue); // no longer the caller's
        FAILS(hipFreeAsync(data, stream), hipErrorInvalidValue);
        FAILS(hipFree(data), hipErrorInvalidValue);
        held.release();
    }
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(out.get()[0], 1);
    CapturedStderr said;
    OK(launch(code["read_at"], 1, stream, out.data, data));
    FAILS(hipStreamSynchronize(stream), hipErrorIllegalAddress);
}

TEST_CASE("stream-ordered memory: edges") {
    OwnStream stream;
    void *data = &stream;
    OK(hipMallocAsync(&data, 0, stream));
    CHECK_EQ(data, nullptr);
    FAILS(hipMallocAsync(nullptr, 4, stream), hipErrorInvalidValue);
    FAILS(hipMallocAsync(&data, std::size_t{1} << 60, stream), hipErrorOutOfMemory);
    FAILS(hipFreeAsync(nullptr, stream), hipErrorInvalidValue);
    int on_stack = 0;
    FAILS(hipFreeAsync(&on_stack, stream), hipErrorInvalidValue);
    OK(hipMalloc(&data, 64));
    OK(hipFreeAsync(data, stream)); // memory of hipMalloc, too
    OK(hipMallocAsync(&data, 64, stream));
    OK(hipFree(data)); // and the reverse
}

TEST_CASE("a pool counts") {
    OwnPool pool;
    OwnStream stream;
    void *first = nullptr, *second = nullptr;
    OK(hipMallocFromPoolAsync(&first, 1000, pool, stream));
    OK(hipMallocFromPoolAsync(&second, 24, pool, stream));
    CHECK_EQ(amount(pool, hipMemPoolAttrUsedMemCurrent), 1024);
    CHECK_GE(amount(pool, hipMemPoolAttrReservedMemCurrent), 1024);
    OK(hipFreeAsync(first, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(amount(pool, hipMemPoolAttrUsedMemCurrent), 24);
    CHECK_EQ(amount(pool, hipMemPoolAttrUsedMemHigh), 1024);
    std::uint64_t zero = 0, one = 1;
    FAILS(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &one), hipErrorInvalidValue);
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemHigh, &zero));
    CHECK_EQ(amount(pool, hipMemPoolAttrUsedMemHigh), 24);
    FAILS(hipMemPoolSetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &zero), hipErrorInvalidValue);
    OK(hipMemPoolTrimTo(pool, 0));
    OK(hipFreeAsync(second, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(amount(pool, hipMemPoolAttrUsedMemCurrent), 0);
}

TEST_CASE("freed memory comes back for its size, on a stream that is ordered after") {
    Code code;
    OwnPool pool;
    OwnStream stream, other(hipStreamNonBlocking);
    const auto allocate = [&](hipStream_t on, std::size_t bytes = 4096) {
        void *at = nullptr;
        OK(hipMallocFromPoolAsync(&at, bytes, pool, on));
        return at;
    };
    const auto allow = [&](hipMemPoolAttr which, int on) {
        OK(hipMemPoolSetAttribute(pool, which, &on));
    };
    void *first = allocate(stream);
    Ints word(1);
    {
        Held held(code, stream, word.data);
        OK(hipFreeAsync(first, stream)); // not reached yet
        CHECK_EQ(amount(pool, hipMemPoolAttrUsedMemCurrent), 0);
        CHECK_EQ(amount(pool, hipMemPoolAttrReservedMemCurrent), 4096);
        CHECK_NE(allocate(stream, 8192), first);
        CHECK_NE(allocate(other), first);
        OK(hipMemPoolTrimTo(pool, 0)); // it is not free yet
        CHECK_EQ(allocate(stream), first);
        OK(hipMemsetD32Async(first, 7, 1, stream));
        held.release();
    }
    int got = 0;
    OK(hipMemcpyAsync(&got, first, 4, hipMemcpyDeviceToHost, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(got, 7);

    allow(hipMemPoolReuseAllowOpportunistic, 0);
    OK(hipFreeAsync(first, stream));
    OwnEvent freed;
    OK(hipEventRecord(freed, stream));
    OK(hipEventSynchronize(freed));
    CHECK_NE(allocate(other), first); // the host knows that it is free, the pool may not use that
    OK(hipStreamWaitEvent(other, freed, 0));
    CHECK_EQ(allocate(other), first);

    allow(hipMemPoolReuseAllowOpportunistic, 1);
    allow(hipMemPoolReuseFollowEventDependencies, 0);
    OK(hipFreeAsync(first, other));
    OK(hipEventRecord(freed, other));
    OK(hipEventSynchronize(freed));
    CHECK_EQ(allocate(stream), first); // free by now
}

TEST_CASE("unused memory of a pool: kept up to a threshold, trimmed, never read") {
    Code code;
    OwnPool pool;
    OwnStream stream;
    std::uint64_t threshold = 1 << 20;
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
    int *data = nullptr, *rest = nullptr;
    OK(hipMallocFromPoolAsync(reinterpret_cast<void **>(&data), 4096, pool, stream));
    OK(hipMallocFromPoolAsync(reinterpret_cast<void **>(&rest), 8192, pool, stream));
    OK(hipFreeAsync(data, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(amount(pool, hipMemPoolAttrReservedMemCurrent), 4096 + 8192);
    OK(hipMemPoolTrimTo(pool, 4096));
    CHECK_EQ(amount(pool, hipMemPoolAttrReservedMemCurrent), 4096 + 8192);
    Ints out(1);
    {
        CapturedStderr said;
        OK(launch(code["read_at"], 1, stream, out.data, data));
        FAILS(hipStreamSynchronize(stream), hipErrorIllegalAddress);
        CHECK(said.text().find("hipFreeAsync") != std::string::npos);
    }
    OK(hipMemPoolTrimTo(pool, 0));
    CHECK_EQ(amount(pool, hipMemPoolAttrReservedMemCurrent), 8192);
    threshold = 0;
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
    OK(hipFreeAsync(rest, stream));
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(amount(pool, hipMemPoolAttrReservedMemCurrent), 0);
}

TEST_CASE("a pool's settings") {
    OwnPool pool;
    std::uint64_t threshold = 1 << 20;
    OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
    CHECK_EQ(amount(pool, hipMemPoolAttrReleaseThreshold), 1 << 20);
    int reuse = -1;
    OK(hipMemPoolGetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &reuse));
    CHECK_EQ(reuse, 1);
    reuse = 0;
    OK(hipMemPoolSetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &reuse));
    reuse = -1;
    OK(hipMemPoolGetAttribute(pool, hipMemPoolReuseAllowOpportunistic, &reuse));
    CHECK_EQ(reuse, 0);
    FAILS(hipMemPoolGetAttribute(pool, static_cast<hipMemPoolAttr>(77), &reuse),
          hipErrorInvalidValue);
    FAILS(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, nullptr),
          hipErrorInvalidValue);
}

TEST_CASE("a device's default and current pool") {
    hipMemPool_t preset = nullptr, current = nullptr;
    OK(hipDeviceGetDefaultMemPool(&preset, 0));
    OK(hipDeviceGetMemPool(&current, 0));
    CHECK_EQ(preset, current);
    FAILS(hipMemPoolDestroy(preset), hipErrorInvalidValue);
    OwnPool own;
    OK(hipDeviceSetMemPool(0, own));
    void *data = nullptr;
    OK(hipMallocAsync(&data, 100, nullptr));
    CHECK_EQ(amount(own, hipMemPoolAttrUsedMemCurrent), 100);
    FAILS(hipDeviceSetMemPool(1, own), hipErrorInvalidDevice); // another device's
    for (const int none : {-1, 9}) {
        FAILS(hipDeviceSetMemPool(none, own), hipErrorInvalidValue);
        FAILS(hipDeviceGetMemPool(&current, none), hipErrorInvalidValue);
    }
    OK(hipMemPoolDestroy(own)); // its memory lives on
    OK(hipDeviceGetMemPool(&current, 0));
    CHECK_EQ(preset, current);
    OK(hipMemsetD8(data, 1, 100));
    OK(hipFreeAsync(data, nullptr));
    FAILS(hipMallocFromPoolAsync(&data, 100, own, nullptr), hipErrorInvalidValue);
    FAILS(hipDeviceGetDefaultMemPool(&preset, 9), hipErrorInvalidDevice);
}

TEST_CASE("pools that HIP refuses") {
    hipMemPool_t pool = nullptr;
    hipMemPoolProps props{};
    FAILS(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue); // no type
    props.allocType = hipMemAllocationTypePinned;
    FAILS(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue); // no location
    props.location = {hipMemLocationTypeDevice, 9};
    FAILS(hipMemPoolCreate(&pool, &props), hipErrorInvalidValue);
    FAILS(hipMemPoolCreate(nullptr, &props), hipErrorInvalidValue);
    FAILS(hipMemPoolDestroy(nullptr), hipErrorInvalidValue);
}

TEST_CASE("a pool's memory for another device's kernels") {
    OwnPool pool(1);
    OK(hipSetDevice(1));
    OwnStream stream;
    int *early = nullptr, *late = nullptr;
    OK(hipMallocFromPoolAsync(reinterpret_cast<void **>(&early), 4, pool, stream));
    OK(hipMemsetD32(early, 61, 1));
    hipMemLocation first{hipMemLocationTypeDevice, 0};
    hipMemAccessFlags flags{};
    OK(hipMemPoolGetAccess(&flags, pool, &first));
    CHECK_EQ(flags, hipMemAccessFlagsProtNone);
    hipMemAccessDesc wish{first, hipMemAccessFlagsProtReadWrite};
    OK(hipMemPoolSetAccess(pool, &wish, 1));
    OK(hipMemPoolGetAccess(&flags, pool, &first));
    CHECK_EQ(flags, hipMemAccessFlagsProtReadWrite);
    OK(hipMallocFromPoolAsync(reinterpret_cast<void **>(&late), 4, pool, stream));
    OK(hipMemsetD32(late, 62, 1));
    OK(hipSetDevice(0));
    Code code;
    Ints out(1, -1);
    OK(launch(code["read_at"], 1, nullptr, out.data, early));
    CHECK_EQ(out.get()[0], 61);
    OK(launch(code["read_at"], 1, nullptr, out.data, late));
    CHECK_EQ(out.get()[0], 62);
    wish.flags = hipMemAccessFlagsProtNone;
    OK(hipMemPoolSetAccess(pool, &wish, 1));
    CapturedStderr said;
    OK(launch(code["read_at"], 1, nullptr, out.data, early));
    FAILS(hipDeviceSynchronize(), hipErrorIllegalAddress);
    wish.location.id = 1;
    FAILS(hipMemPoolSetAccess(pool, &wish, 1), hipErrorInvalidDevice); // its own keeps it
    wish.flags = hipMemAccessFlagsProtReadWrite;
    for (const int none : {-1, 9}) {
        wish.location.id = none;
        FAILS(hipMemPoolSetAccess(pool, &wish, 1), hipErrorInvalidDevice);
        FAILS(hipMemPoolGetAccess(&flags, pool, &wish.location), hipErrorInvalidValue);
    }
    OK(hipFreeAsync(early, stream));
    OK(hipFree(late));
}

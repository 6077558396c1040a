// SPDX-License-Identifier: MIT
// Memory that more than one side may touch: managed, registered, of a peer; and mapped memory.
#include <unistd.h>

#include "hip/common.h"

using namespace hip_test;

namespace {

// Value that `read_at` reads at `from`, on the current device.
int seen_by_kernel(const int *from) {
    Code code;
    Ints out(1, -1);
    OK(launch(code["read_at"], 1, nullptr, out.data, from));
    return out.get()[0];
}

bool kernel_faults(const int *from) {
    CapturedStderr said;
    Code code;
    Ints out(1, -1);
    OK(launch(code["read_at"], 1, nullptr, out.data, from));
    return hipDeviceSynchronize() == hipErrorIllegalAddress;
}

struct OnDevice {
    explicit OnDevice(int ordinal) { OK(hipSetDevice(ordinal)); }
    ~OnDevice() { static_cast<void>(hipSetDevice(0)); }
};

constexpr std::size_t mib = 1 << 20;

hipMemAllocationProp on_device(int ordinal) {
    hipMemAllocationProp prop{};
    prop.type = hipMemAllocationTypePinned;
    prop.location = {hipMemLocationTypeDevice, ordinal};
    return prop;
}

} // namespace

TEST_CASE("managed memory is everybody's") {
    int *shared = nullptr;
    OK(hipMallocManaged(reinterpret_cast<void **>(&shared), 64, hipMemAttachGlobal));
    *shared = 11;
    CHECK_EQ(seen_by_kernel(shared), 11);
    {
        OnDevice other(1);
        *shared = 12;
        CHECK_EQ(seen_by_kernel(shared), 12);
    }
    Code code;
    OK(launch(code["increment"], 1, nullptr, shared));
    OK(hipDeviceSynchronize());
    CHECK_EQ(*shared, 13);
    hipPointerAttribute_t attributes{};
    OK(hipPointerGetAttributes(&attributes, shared));
    CHECK_EQ(attributes.isManaged, 1);
    Ints out(1, -1); // now: later it could get the freed address
    OK(hipFree(shared));
    CapturedStderr said;
    OK(launch(code["read_at"], 1, nullptr, out.data, shared));
    FAILS(hipDeviceSynchronize(), hipErrorIllegalAddress);
    void *none = nullptr;
    FAILS(hipMallocManaged(&none, 0, hipMemAttachGlobal), hipErrorInvalidValue);
    FAILS(hipMallocManaged(&none, 64, 77), hipErrorInvalidValue);
    FAILS(hipMallocManaged(nullptr, 64, hipMemAttachGlobal), hipErrorInvalidValue);
}

TEST_CASE("hints about managed memory are kept for who asks") {
    constexpr std::size_t page = 4096, all = 4 * page; // hints are for whole pages
    void *shared = nullptr;
    OK(hipMallocManaged(&shared, all, hipMemAttachGlobal));
    int value = -1;
    const auto ask = [&](hipMemRangeAttribute which) {
        OK(hipMemRangeGetAttribute(&value, sizeof value, which, shared, all));
        return value;
    };
    CHECK_EQ(ask(hipMemRangeAttributeReadMostly), 0);
    CHECK_EQ(ask(hipMemRangeAttributeLastPrefetchLocation), -2); // nowhere
    OK(hipMemAdvise(shared, all, hipMemAdviseSetReadMostly, 0));
    OK(hipMemAdvise(shared, all, hipMemAdviseSetPreferredLocation, 1));
    OK(hipMemAdvise(shared, all, hipMemAdviseSetAccessedBy, 1));
    OK(hipMemPrefetchAsync(shared, all, -1, nullptr)); // to the CPU
    CHECK_EQ(ask(hipMemRangeAttributeReadMostly), 1);
    CHECK_EQ(ask(hipMemRangeAttributePreferredLocation), 1);
    CHECK_EQ(ask(hipMemRangeAttributeLastPrefetchLocation), -1);
    int by[3] = {9, 9, 9};
    OK(hipMemRangeGetAttribute(by, sizeof by, hipMemRangeAttributeAccessedBy, shared, all));
    CHECK_EQ(by[0], 1);
    CHECK_EQ(by[1], -2);
    // A part of the range has its own; the whole has what all parts agree on.
    OK(hipMemAdvise(static_cast<char *>(shared) + page, page, hipMemAdviseUnsetReadMostly, 0));
    OK(hipMemAdvise(static_cast<char *>(shared) + page, page, hipMemAdviseSetAccessedBy, 0));
    OK(hipMemAdvise(shared, 2 * page, hipMemAdviseSetPreferredLocation, 0));
    CHECK_EQ(ask(hipMemRangeAttributeReadMostly), 0);
    CHECK_EQ(ask(hipMemRangeAttributePreferredLocation), -2);
    CHECK_EQ(ask(hipMemRangeAttributeLastPrefetchLocation), -1);
    OK(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeReadMostly, shared, page));
    CHECK_EQ(value, 1);
    OK(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributePreferredLocation, shared, 2 * page));
    CHECK_EQ(value, 0);
    OK(hipMemRangeGetAttribute(by, sizeof by, hipMemRangeAttributeAccessedBy, shared, all));
    CHECK_EQ(by[0], 1);
    CHECK_EQ(by[1], -2);
    FAILS(hipMemAdvise(shared, 2 * all, hipMemAdviseSetReadMostly, 0), hipErrorInvalidValue);
    FAILS(hipMemAdvise(shared, all, static_cast<hipMemoryAdvise>(50), 0), hipErrorInvalidValue);
    FAILS(hipMemPrefetchAsync(shared, all, 7, nullptr), hipErrorInvalidDevice);
    FAILS(hipMemPrefetchAsync(&value, 4, 0, nullptr), hipErrorInvalidValue);
    OK(hipMemAdvise(static_cast<char *>(shared) + 2 * page + 1, 4, hipMemAdviseUnsetReadMostly, 0));
    OK(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeReadMostly,
                               static_cast<char *>(shared) + 3 * page - 8, 8));
    CHECK_EQ(value, 0); // in the same page
    OK(hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeReadMostly,
                               static_cast<char *>(shared) + 3 * page, 8));
    CHECK_EQ(value, 1);
    OK(hipFree(shared));
}

TEST_CASE("the host's own memory, while it is registered") {
    std::vector<int> mine(1000, 21);
    CHECK(kernel_faults(mine.data()));
    OK(hipHostRegister(mine.data(), 4000, hipHostRegisterMapped));
    OK(hipHostRegister(mine.data(), 4000, hipHostRegisterMapped)); // twice is once
    FAILS(hipHostRegister(mine.data() + 500, 4, 0), hipErrorHostMemoryAlreadyRegistered);
    void *on_device = nullptr;
    OK(hipHostGetDevicePointer(&on_device, mine.data(), 0));
    CHECK_EQ(seen_by_kernel(static_cast<int *>(on_device) + 999), 21);
    {
        OnDevice other(1);
        CHECK_EQ(seen_by_kernel(mine.data()), 21);
    }
    CHECK(kernel_faults(mine.data() + 1000));
    unsigned flags = 0;
    OK(hipHostGetFlags(&flags, mine.data()));
    CHECK_EQ(flags, hipHostRegisterMapped);
    FAILS(hipHostFree(mine.data()), hipErrorInvalidValue);
    FAILS(hipHostUnregister(mine.data() + 1), hipErrorHostMemoryNotRegistered);
    OK(hipHostUnregister(mine.data()));
    FAILS(hipHostUnregister(mine.data()), hipErrorHostMemoryNotRegistered);
    CHECK(kernel_faults(mine.data()));
}

TEST_CASE("registering what is not there") {
    FAILS(hipHostRegister(nullptr, 4, 0), hipErrorInvalidValue);
    FAILS(hipHostRegister(reinterpret_cast<void *>(0x1000), 4096, 0), hipErrorInvalidValue);
    int word = 0;
    FAILS(hipHostRegister(&word, 0, 0), hipErrorInvalidValue);
    FAILS(hipHostRegister(&word, SIZE_MAX, 0), hipErrorInvalidValue);
    FAILS(hipHostRegister(&word, 4, 0x1000), hipErrorInvalidValue);
    void *pointer = nullptr;
    FAILS(hipHostGetDevicePointer(&pointer, &word, 0), hipErrorInvalidValue);
}

TEST_CASE("the range behind an address") {
    Ints data(100);
    hipDeviceptr_t base = nullptr;
    std::size_t bytes = 0;
    OK(hipMemGetAddressRange(&base, &bytes, data.data + 42));
    CHECK_EQ(base, static_cast<void *>(data.data));
    CHECK_EQ(bytes, 400);
    FAILS(hipMemGetAddressRange(&base, &bytes, data.data + 100), hipErrorNotFound);
    FAILS(hipMemGetAddressRange(&base, &bytes, nullptr), hipErrorNotFound);
    FAILS(hipMemGetAddressRange(nullptr, nullptr, data.data), hipErrorInvalidValue);
    OK(hipMemPtrGetInfo(data.data, &bytes));
    CHECK_EQ(bytes, 400);
}

TEST_CASE("a peer's memory, while access is enabled") {
    int can = -1;
    OK(hipDeviceCanAccessPeer(&can, 0, 1));
    CHECK_EQ(can, 1);
    OK(hipDeviceCanAccessPeer(&can, 0, 0));
    CHECK_EQ(can, 0);
    FAILS(hipDeviceCanAccessPeer(&can, 0, 5), hipErrorInvalidDevice);
    Ints before(1, 31);
    OnDevice other(1);
    CHECK(kernel_faults(before.data));
    OK(hipDeviceEnablePeerAccess(0, 0));
    FAILS(hipDeviceEnablePeerAccess(0, 0), hipErrorPeerAccessAlreadyEnabled);
    FAILS(hipDeviceEnablePeerAccess(1, 0), hipErrorInvalidDevice);
    CHECK_EQ(seen_by_kernel(before.data), 31);
    OK(hipSetDevice(0));
    Ints after(1, 32);
    OK(hipSetDevice(1));
    CHECK_EQ(seen_by_kernel(after.data), 32);
    OK(hipDeviceDisablePeerAccess(0));
    FAILS(hipDeviceDisablePeerAccess(0), hipErrorPeerAccessNotEnabled);
    CHECK(kernel_faults(before.data));
    OK(hipSetDevice(0));
    CHECK_EQ(seen_by_kernel(before.data), 31); // its own never changed
}

TEST_CASE("mapped memory: reserve, create, map, give access, use, unmap") {
    const hipMemAllocationProp prop = on_device(0);
    std::size_t step = 0;
    OK(hipMemGetAllocationGranularity(&step, &prop, hipMemAllocationGranularityMinimum));
    REQUIRE_GT(step, 0);
    void *range = nullptr;
    OK(hipMemAddressReserve(&range, 4 * step, 0, nullptr, 0));
    hipMemGenericAllocationHandle_t first = nullptr, second = nullptr;
    OK(hipMemCreate(&first, step, &prop, 0));
    OK(hipMemCreate(&second, step, &prop, 0));
    char *const bytes = static_cast<char *>(range);
    OK(hipMemMap(bytes, step, 0, first, 0));
    OK(hipMemMap(bytes + step, step, 0, second, 0));
    FAILS(hipMemMap(bytes, step, 0, first, 0), hipErrorInvalidValue); // taken
    const int *const words = static_cast<int *>(range);
    CHECK(kernel_faults(words)); // mapped, but no access yet
    const hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
    OK(hipMemSetAccess(range, 2 * step, &access, 1));
    unsigned long long flags = 0;
    const hipMemLocation here{hipMemLocationTypeDevice, 0};
    OK(hipMemGetAccess(&flags, &here, range));
    CHECK_EQ(flags, hipMemAccessFlagsProtReadWrite);

    OK(hipMemsetD32(range, 41, 2 * step / 4)); // over both: they follow each other
    CHECK_EQ(seen_by_kernel(words), 41);
    CHECK_EQ(seen_by_kernel(words + 2 * step / 4 - 1), 41);
    {
        OnDevice other(1);
        CHECK(kernel_faults(words));
    }
    OK(hipMemRelease(second)); // its mapping keeps it
    CHECK_EQ(seen_by_kernel(words + step / 4), 41);
    FAILS(hipMemAddressFree(range, 4 * step), hipErrorInvalidValue); // still mapped
    OK(hipMemUnmap(range, 2 * step));
    CHECK(kernel_faults(words));
    OK(hipMemMap(bytes + step, step, 0, first, 0)); // elsewhere: the same memory
    OK(hipMemSetAccess(bytes + step, step, &access, 1));
    CHECK_EQ(seen_by_kernel(words + step / 4), 41);
    OK(hipMemUnmap(bytes + step, step));
    OK(hipMemRelease(first));
    FAILS(hipMemRelease(first), hipErrorInvalidValue);
    OK(hipMemAddressFree(range, 4 * step));
    FAILS(hipMemAddressFree(range, 4 * step), hipErrorInvalidValue);
}

TEST_CASE("mapped memory: what HIP refuses") {
    hipMemAllocationProp prop = on_device(0);
    hipMemGenericAllocationHandle_t handle = nullptr;
    FAILS(hipMemCreate(&handle, 100, &prop, 0), hipErrorInvalidValue); // no multiple of the step
    FAILS(hipMemCreate(&handle, 0, &prop, 0), hipErrorInvalidValue);
    FAILS(hipMemCreate(&handle, std::size_t{1} << 60, &prop, 0), hipErrorOutOfMemory);
    prop.location.id = 9;
    FAILS(hipMemCreate(&handle, 2 * mib, &prop, 0), hipErrorInvalidValue);
    void *range = nullptr;
    FAILS(hipMemAddressReserve(&range, 100, 0, nullptr, 0), hipErrorOutOfMemory);
    FAILS(hipMemAddressReserve(nullptr, 2 * mib, 0, nullptr, 0), hipErrorInvalidValue);
    FAILS(hipMemAddressReserve(&range, 2 * mib, 3, nullptr, 0), hipErrorOutOfMemory);
    FAILS(hipMemUnmap(&range, 2 * mib), hipErrorInvalidValue);
    FAILS(hipMemRelease(nullptr), hipErrorInvalidValue);
    FAILS(hipMemMap(&range, 2 * mib, 0, nullptr, 0), hipErrorInvalidValue);
}

TEST_CASE("mapped memory goes to other processes as a file descriptor") {
    const hipMemAllocationProp prop = on_device(0);
    hipMemGenericAllocationHandle_t handle = nullptr, again = nullptr;
    OK(hipMemCreate(&handle, 2 * mib, &prop, 0));
    int descriptor = -1;
    OK(hipMemExportToShareableHandle(&descriptor, handle, hipMemHandleTypePosixFileDescriptor, 0));
    OK(hipMemImportFromShareableHandle(&again, &descriptor, hipMemHandleTypePosixFileDescriptor));
    void *range = nullptr;
    OK(hipMemAddressReserve(&range, 4 * mib, 0, nullptr, 0));
    char *const bytes = static_cast<char *>(range);
    OK(hipMemMap(bytes, 2 * mib, 0, handle, 0));
    OK(hipMemMap(bytes + 2 * mib, 2 * mib, 0, again, 0));
    OK(hipMemsetD32(bytes, 51, 4));
    int seen = 0;
    OK(hipMemcpy(&seen, bytes + 2 * mib, 4, hipMemcpyDeviceToHost));
    CHECK_EQ(seen, 51);
    OK(hipMemUnmap(range, 4 * mib));
    OK(hipMemAddressFree(range, 4 * mib));
    OK(hipMemRelease(handle));
    OK(hipMemRelease(again));
    close(descriptor);
}

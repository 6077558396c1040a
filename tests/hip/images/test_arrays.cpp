// SPDX-License-Identifier: MIT
// Arrays, and copies from and to them.
#include "hip/images/pictures.h"

using namespace hip_test;

ASM_NAME(hipArrayGetDescriptor, HIP_ARRAY_DESCRIPTOR *, const void *);
ASM_NAME(hipArray3DGetDescriptor, HIP_ARRAY3D_DESCRIPTOR *, const void *);
ASM_NAME(hipMemcpyHtoAAsync, void *, size_t, const void *, size_t, hipStream_t);
ASM_NAME(hipMemcpyAtoHAsync, void *, const void *, size_t, size_t, hipStream_t);
ASM_NAME(hipMemcpyAtoD, void *, const void *, size_t, size_t);
ASM_NAME(hipMemcpyDtoA, void *, size_t, const void *, size_t);
ASM_NAME(hipMemcpyAtoA, void *, size_t, const void *, size_t, size_t);
ASM_NAME(hipMemcpyFromArray_spt, void *, const void *, size_t, size_t, size_t, hipMemcpyKind);
ASM_NAME(hipMemcpy2DToArray_spt, void *, size_t, size_t, const void *, size_t, size_t, size_t,
         hipMemcpyKind);
ASM_NAME(hipMemcpy2DToArrayAsync_spt, void *, size_t, size_t, const void *, size_t, size_t, size_t,
         hipMemcpyKind, hipStream_t);
ASM_NAME(hipMemcpy2DFromArray_spt, void *, size_t, const void *, size_t, size_t, size_t, size_t,
         hipMemcpyKind);
ASM_NAME(hipMemcpy2DFromArrayAsync_spt, void *, size_t, const void *, size_t, size_t, size_t,
         size_t, hipMemcpyKind, hipStream_t);

TEST_CASE("arrays: sizes, copies of parts, copies between them") {
    const hipChannelFormatDesc two_halves{16, 16, 0, 0, real};
    hipArray_t a = nullptr, b = nullptr;
    OK(hipMallocArray(&a, &two_halves, 30, 20, 0));
    OK(hipMallocArray(&b, &two_halves, 30, 20, hipArraySurfaceLoadStore));
    hipChannelFormatDesc desc{};
    hipExtent extent{};
    unsigned flags = 0;
    OK(array_info(&desc, &extent, &flags, b));
    CHECK(std::memcmp(&desc, &two_halves, sizeof desc) == 0);
    CHECK_EQ(extent.width, 30u);
    CHECK_EQ(extent.height, 20u);
    CHECK_EQ(flags, unsigned{hipArraySurfaceLoadStore});

    std::vector<int> texels(600), got(600, -1);
    for (int n = 0; n < 600; ++n)
        texels[static_cast<size_t>(n)] = n * 7;
    OK(hipMemcpyToArray(a, 0, 0, texels.data(), 2400, hipMemcpyHostToDevice)); // row by row
    OK(copy_arrays(b, 0, 0, a, 0, 0, 120, 20, hipMemcpyDeviceToDevice));
    OK(hipMemcpy2DFromArray(got.data(), 120, b, 0, 0, 120, 20, hipMemcpyDeviceToHost));
    CHECK(got == texels);
    int part[2][3];
    OK(hipMemcpy2DFromArray(part, 12, a, 4 * 5, 7, 12, 2, hipMemcpyDeviceToHost));
    CHECK_EQ(part[1][2], texels[8 * 30 + 7]);
    int row[4];
    OK(hipMemcpyAtoH(row, a, 8, sizeof row));
    CHECK_EQ(row[3], texels[5]);
    FAILS(hipMemcpy2DFromArray(part, 12, a, 112, 0, 12, 2, hipMemcpyDeviceToHost),
          hipErrorInvalidValue);
    FAILS(hipMemcpy2DFromArray(part, 12, a, 0, 19, 12, 2, hipMemcpyDeviceToHost),
          hipErrorInvalidValue);

    unsigned type = 0;
    OK(hipPointerGetAttribute(&type, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    CHECK_EQ(type, 10); // hipMemoryTypeArray since ROCm 6
    OK(hipFreeArray(a));
    FAILS(hipFreeArray(a), hipErrorContextIsDestroyed);
    FAILS(hipMemcpyAtoH(row, a, 0, 4), hipErrorInvalidHandle);
    FAILS(hipMemcpyAtoH(row, nullptr, 0, 4), hipErrorInvalidValue);
    OK(hipFreeArray(b));
    const hipChannelFormatDesc three{8, 8, 8, 0, natural}, mixed{8, 16, 0, 0, natural};
    FAILS(hipMallocArray(&a, &three, 4, 4, 0), hipErrorInvalidValue);
    FAILS(hipMallocArray(&a, &mixed, 4, 4, 0), hipErrorInvalidValue);
    FAILS(hipMallocArray(&a, &two_halves, 0, 4, 0), hipErrorInvalidValue);
    FAILS(hipMallocArray(&a, nullptr, 4, 4, 0), hipErrorInvalidValue);
    for (const unsigned stacked : {hipArrayLayered, hipArrayCubemap}) // of no layers
        FAILS(hipMallocArray(&a, &two_halves, 4, 4, stacked), hipErrorInvalidValue);
}

TEST_CASE("the driver's arrays, and copies of one row") {
    const HIP_ARRAY_DESCRIPTOR flat{8, 4, HIP_AD_FORMAT_UNSIGNED_INT16, 2};
    const HIP_ARRAY3D_DESCRIPTOR box{8, 4, 3, HIP_AD_FORMAT_UNSIGNED_INT16, 2, 0};
    hipArray_t a = nullptr, b = nullptr;
    OK(hipArrayCreate(&a, &flat));
    OK(hipArray3DCreate(&b, &box));
    HIP_ARRAY_DESCRIPTOR flat_again{};
    HIP_ARRAY3D_DESCRIPTOR box_again{};
    OK(other_hipArrayGetDescriptor(&flat_again, a));
    OK(other_hipArray3DGetDescriptor(&box_again, b));
    CHECK(std::memcmp(&flat_again, &flat, sizeof flat) == 0);
    // Behind the flags there are four bytes of no member.
    constexpr std::size_t members = offsetof(HIP_ARRAY3D_DESCRIPTOR, Flags) + sizeof box.Flags;
    CHECK(std::memcmp(&box_again, &box, members) == 0);
    hipChannelFormatDesc channels{};
    OK(hipGetChannelDesc(&channels, b));
    CHECK_EQ(channels.y, 16);
    CHECK_EQ(channels.z, 0);

    const std::vector<int> row{1, 2, 3, 4, 5, 6, 7, 8};
    const Buffer<int> memory(row);
    OK(hipMemcpyHtoA(a, 4, row.data(), 12)); // _ 1 2 3 ...
    OK(other_hipMemcpyHtoAAsync(a, 16, row.data(), 16, nullptr));
    OK(other_hipMemcpyDtoA(a, 0, memory.data + 6, 4));
    OK(other_hipMemcpyAtoA(b, 0, a, 4, 28));
    OK(other_hipMemcpyAtoD(memory.data, b, 0, 28));
    CHECK(memory.get() == std::vector<int>{1, 2, 3, 1, 2, 3, 4, 8});
    int first = 0;
    OK(other_hipMemcpyAtoHAsync(&first, a, 0, 4, nullptr));
    OK(hipDeviceSynchronize());
    CHECK_EQ(first, 7);
    FAILS(hipMemcpyHtoA(a, 4, row.data(), 32), hipErrorInvalidValue);
    OK(hipArrayDestroy(a));
    OK(hipArrayDestroy(b));
}

TEST_CASE("copies of rows, on every stream") {
    const hipChannelFormatDesc channel{32, 0, 0, 0, whole};
    hipArray_t array = nullptr;
    OK(hipMallocArray(&array, &channel, 5, 4, 0));
    const OwnStream stream;
    int from[4][5], to[4][5];
    int value = 0;
    const auto to_array = hipMemcpyHostToDevice;
    const auto to_host = hipMemcpyDeviceToHost;
    const auto check = [&](auto in, auto out) {
        for (auto &row : from)
            for (int &x : row)
                x = ++value;
        OK(in());
        OK(hipDeviceSynchronize());
        OK(out());
        OK(hipDeviceSynchronize());
        CHECK(std::memcmp(from, to, sizeof to) == 0);
    };
    check([&] { return hipMemcpy2DToArray(array, 0, 0, from, 20, 20, 4, to_array); },
          [&] { return hipMemcpy2DFromArrayAsync(to, 20, array, 0, 0, 20, 4, to_host, stream); });
    check([&] { return hipMemcpy2DToArrayAsync(array, 0, 0, from, 20, 20, 4, to_array, stream); },
          [&] { return other_hipMemcpy2DFromArray_spt(to, 20, array, 0, 0, 20, 4, to_host); });
    check([&] { return other_hipMemcpy2DToArray_spt(array, 0, 0, from, 20, 20, 4, to_array); },
          [&] {
              return other_hipMemcpy2DFromArrayAsync_spt(to, 20, array, 0, 0, 20, 4, to_host,
                                                         nullptr);
          });
    check([&] { return hipMemcpy2DToArray(array, 0, 0, from, 20, 20, 4, to_array); },
          [&] { return other_hipMemcpyFromArray_spt(to, array, 0, 0, 80, to_host); });
    check(
        [&] {
            return other_hipMemcpy2DToArrayAsync_spt(array, 0, 0, from, 20, 20, 4, to_array,
                                                     nullptr);
        },
        [&] { return hipMemcpy2DFromArray(to, 20, array, 0, 0, 20, 4, to_host); });
    OK(hipFreeArray(array));
}

namespace {

// hipMemcpy3DBatchOp, newer than the oldest headers that we build with.
struct Operand {
    int type; // 1: pointer, 2: array
    union {
        struct {
            void *at;
            size_t row, layer;
            hipMemLocation hint;
        } pointer;
        struct {
            hipArray_t array;
            size_t x, y, z;
        } array;
    };
};
struct BoxOp {
    Operand from, to;
    hipExtent extent;
    int order;
    unsigned flags;
};
Operand behind(void *at, size_t row, size_t layer) {
    Operand o{1, {}};
    o.pointer = {at, row, layer, {}};
    return o;
}
Operand inside(hipArray_t array, size_t x, size_t y, size_t z) {
    Operand o{2, {}};
    o.array = {array, x, y, z};
    return o;
}

} // namespace
ASM_NAME(hipMemcpy3DBatchAsync, size_t, const BoxOp *, size_t *, unsigned long long, hipStream_t);

TEST_CASE("a batch of boxes") {
    constexpr size_t all_well = ~size_t{0};
    const hipChannelFormatDesc channel{32, 0, 0, 0, whole};
    hipArray_t array = nullptr;
    OK(hipMalloc3DArray(&array, &channel, {6, 5, 4}, 0));
    std::vector<int> from(6 * 5 * 4), to(from.size(), -1);
    for (size_t n = 0; n < from.size(); ++n)
        from[n] = static_cast<int>(n);
    size_t failed = 0;
    // All of it in; then a box of 3 x 2 x 2 from (1, 2, 1) out, into rows of 4 and layers of 3.
    BoxOp ops[] = {{behind(from.data(), 0, 0), inside(array, 0, 0, 0), {6, 5, 4}, 2, 0},
                   {inside(array, 1, 2, 1), behind(to.data(), 4, 3), {3, 2, 2}, 1, 0}};
    OK(other_hipMemcpy3DBatchAsync(2, ops, &failed, 0, nullptr));
    OK(hipDeviceSynchronize());
    CHECK_EQ(failed, all_well);
    for (size_t z = 0; z < 2; ++z)
        for (size_t y = 0; y < 2; ++y)
            for (size_t x = 0; x < 4; ++x)
                CHECK_EQ(to[(z * 3 + y) * 4 + x],
                         x < 3 ? from[((z + 1) * 5 + y + 2) * 6 + x + 1] : -1);
    // Between pointers a box has bytes.
    BoxOp bytes{behind(from.data(), 8, 0), behind(to.data(), 4, 0), {4, 3, 1}, 3, 1};
    OK(other_hipMemcpy3DBatchAsync(1, &bytes, nullptr, 0, nullptr));
    OK(hipDeviceSynchronize());
    CHECK_EQ(to[2], from[4]);

    ops[1].from.array.x = 4; // beyond the array
    FAILS(other_hipMemcpy3DBatchAsync(2, ops, &failed, 0, nullptr), hipErrorInvalidValue);
    CHECK_EQ(failed, 1);
    ops[0].order = 0;
    FAILS(other_hipMemcpy3DBatchAsync(2, ops, &failed, 0, nullptr), hipErrorInvalidValue);
    CHECK_EQ(failed, 0);
    FAILS(other_hipMemcpy3DBatchAsync(0, ops, &failed, 0, nullptr), hipErrorInvalidValue);
    FAILS(other_hipMemcpy3DBatchAsync(2, nullptr, &failed, 0, nullptr), hipErrorInvalidValue);
    FAILS(other_hipMemcpy3DBatchAsync(2, ops, &failed, 1, nullptr), hipErrorInvalidValue);
    OK(hipFreeArray(array));
}

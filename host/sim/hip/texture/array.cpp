// SPDX-License-Identifier: MIT
// Allocation of arrays.
#include "sim/hip/texture/array.h"

#include "sim/hip/graph/capture.h"
#include "sim/hip/memory/allocate.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

u64 Array::pitch() const { return round_up(row_bytes(), texture_alignment); }

Copy::Side Array::corner(u64 x, u64 y, u64 z, u64 bytes_, u64 height_, u64 depth_) const {
    const auto within = [](u64 first, u64 count, u64 size) {
        require(first <= size && count <= size - first, hipErrorInvalidValue);
    };
    within(x, bytes_, row_bytes());
    within(y, height_, rows());
    within(z, depth_, slices());
    return {at + z * slice() + y * pitch() + x, pitch(), slice()};
}

const Array &array_of(const void *handle) {
    const auto found = runtime().arrays.find(handle);
    require(found != nullptr, hipErrorInvalidHandle);
    return *found; // lives until hipFreeArray, which no other call may overlap
}

namespace {

void check_extent(const Array &a) {
    require(a.width > 0 && a.width <= most_texels && a.height <= most_texels &&
                a.depth <= most_slices,
            hipErrorInvalidValue);
    require(a.depth == 0 || a.height > 0 || a.layered(), hipErrorInvalidValue);
}

template <class Handle> void create(Handle *handle, Array a) {
    constexpr unsigned known =
        hipArrayLayered | hipArraySurfaceLoadStore | hipArrayCubemap | hipArrayTextureGather;
    require(handle != nullptr, hipErrorInvalidValue);
    forbid_in_capture();
    constexpr unsigned stacked = hipArrayLayered | hipArrayCubemap; // `depth` pictures
    require((a.flags & ~known) == 0, hipErrorInvalidValue);
    require(!(a.flags & stacked) || a.depth > 0, hipErrorInvalidValue);
    if (a.flags & hipArrayCubemap)
        fail(hipErrorNotSupported, "arrays of cubes are not simulated");
    check_extent(a);
    Device &device = runtime().current_device();
    a.device = device.ordinal;
    a.at = reinterpret_cast<u64>(allocate_device(device, a.bytes()));
    auto made = std::make_shared<Array>(a);
    *handle = static_cast<Handle>(const_cast<void *>(runtime().arrays.add(std::move(made))));
}

void destroy(const void *handle) {
    runtime();
    require(handle != nullptr, hipErrorInvalidValue);
    const auto gone = runtime().arrays.remove(handle);
    require(gone != nullptr, hipErrorContextIsDestroyed);
    release(block_at(reinterpret_cast<void *>(gone->at), Block::Kind::device));
}

template <class Descriptor> const Descriptor &given(const Descriptor *descriptor) {
    runtime();
    require(descriptor != nullptr, hipErrorInvalidValue);
    return *descriptor;
}

HIP_ARRAY3D_DESCRIPTOR descriptor_of(const Array &a) {
    return {a.width, a.height, a.depth, a.texel.driver_format(), a.texel.channels, a.flags};
}

} // namespace

} // namespace nw::hipsim

using namespace nw::hipsim;

// Declared with asm names: the headers of several versions differ in what is const.
extern "C" {

hipError_t array_malloc(hipArray_t *array, const hipChannelFormatDesc *desc, size_t width,
                        size_t height, unsigned flags) asm("hipMallocArray");
hipError_t array_malloc(hipArray_t *array, const hipChannelFormatDesc *desc, size_t width,
                        size_t height, unsigned flags) {
    return api("hipMallocArray", [&] {
        create(array, {0, 0, texel_of(given(desc)), width, height, 0, flags});
    });
}

hipError_t array_malloc_3d(hipArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent,
                           unsigned flags) asm("hipMalloc3DArray");
hipError_t array_malloc_3d(hipArray_t *array, const hipChannelFormatDesc *desc, hipExtent extent,
                           unsigned flags) {
    return api("hipMalloc3DArray", [&] {
        create(array,
               {0, 0, texel_of(given(desc)), extent.width, extent.height, extent.depth, flags});
    });
}

hipError_t array_create(hipArray_t *array, const HIP_ARRAY_DESCRIPTOR *desc) asm("hipArrayCreate");
hipError_t array_create(hipArray_t *array, const HIP_ARRAY_DESCRIPTOR *desc) {
    return api("hipArrayCreate", [&] {
        const HIP_ARRAY_DESCRIPTOR &d = given(desc);
        create(array, {0, 0, texel_of(d.Format, d.NumChannels), d.Width, d.Height, 0, 0});
    });
}

hipError_t array_create_3d(hipArray_t *array,
                           const HIP_ARRAY3D_DESCRIPTOR *desc) asm("hipArray3DCreate");
hipError_t array_create_3d(hipArray_t *array, const HIP_ARRAY3D_DESCRIPTOR *desc) {
    return api("hipArray3DCreate", [&] {
        const HIP_ARRAY3D_DESCRIPTOR &d = given(desc);
        create(array,
               {0, 0, texel_of(d.Format, d.NumChannels), d.Width, d.Height, d.Depth, d.Flags});
    });
}

hipError_t array_free(const void *array) asm("hipFreeArray");
hipError_t array_free(const void *array) {
    return api("hipFreeArray", [&] { destroy(array); });
}

hipError_t array_destroy(const void *array) asm("hipArrayDestroy");
hipError_t array_destroy(const void *array) {
    return api("hipArrayDestroy", [&] { destroy(array); });
}

hipError_t array_info(hipChannelFormatDesc *desc, hipExtent *extent, unsigned *flags,
                      const void *array) asm("hipArrayGetInfo");
hipError_t array_info(hipChannelFormatDesc *desc, hipExtent *extent, unsigned *flags,
                      const void *array) {
    return api("hipArrayGetInfo", [&] {
        const Array &a = array_of(array);
        if (desc)
            *desc = a.texel.description();
        if (extent)
            *extent = {a.width, a.height, a.depth};
        if (flags)
            *flags = a.flags;
    });
}

hipError_t array_descriptor(HIP_ARRAY_DESCRIPTOR *desc,
                            const void *array) asm("hipArrayGetDescriptor");
hipError_t array_descriptor(HIP_ARRAY_DESCRIPTOR *desc, const void *array) {
    return api("hipArrayGetDescriptor", [&] {
        given(desc);
        const HIP_ARRAY3D_DESCRIPTOR d = descriptor_of(array_of(array));
        *desc = {d.Width, d.Height, d.Format, d.NumChannels};
    });
}

hipError_t array_descriptor_3d(HIP_ARRAY3D_DESCRIPTOR *desc,
                               const void *array) asm("hipArray3DGetDescriptor");
hipError_t array_descriptor_3d(HIP_ARRAY3D_DESCRIPTOR *desc, const void *array) {
    return api("hipArray3DGetDescriptor", [&] {
        given(desc);
        *desc = descriptor_of(array_of(array));
    });
}

hipError_t array_channels(hipChannelFormatDesc *desc, const void *array) asm("hipGetChannelDesc");
hipError_t array_channels(hipChannelFormatDesc *desc, const void *array) {
    return api("hipGetChannelDesc", [&] {
        given(desc);
        *desc = array_of(array).texel.description();
    });
}
}

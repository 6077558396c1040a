// SPDX-License-Identifier: MIT
// Texture references, bound by the runtime's calls.
#include "sim/hip/texture/reference.h"

#include <algorithm>

#include "sim/hip/copy/copy.h"
#include "sim/hip/module/fatbin.h"
#include "sim/hip/runtime.h"
#include "sim/hip/texture/array.h"

namespace nw::hipsim {

hipTextureDesc sampling_of(const textureReference &reference) {
    hipTextureDesc how{};
    std::ranges::copy(reference.addressMode, how.addressMode);
    how.filterMode = reference.filterMode;
    how.readMode = reference.readMode;
    how.sRGB = reference.sRGB;
    how.normalizedCoords = reference.normalized;
    how.maxAnisotropy = reference.maxAnisotropy;
    how.mipmapFilterMode = reference.mipmapFilterMode;
    how.mipmapLevelBias = reference.mipmapLevelBias;
    how.minMipmapLevelClamp = reference.minMipmapLevelClamp;
    how.maxMipmapLevelClamp = reference.maxMipmapLevelClamp;
    return how;
}

void *texture_begin(const void *pointer, size_t *offset) {
    const u64 at = reinterpret_cast<u64>(pointer), behind = at % texture_alignment;
    require(behind == 0 || offset, hipErrorInvalidValue);
    if (offset)
        *offset = behind;
    return reinterpret_cast<void *>(at - behind);
}

hipResourceDesc array_resource(hipArray_const_t array) {
    hipResourceDesc out{};
    out.resType = hipResourceTypeArray;
    out.res.array.array = const_cast<hipArray_t>(array);
    return out;
}

hipResourceDesc linear_resource(const void *pointer, const hipChannelFormatDesc &element, u64 bytes,
                                size_t *offset) {
    void *const begin = texture_begin(pointer, offset);
    hipResourceDesc out{};
    out.resType = hipResourceTypeLinear;
    out.res.linear.devPtr = begin;
    out.res.linear.desc = element;
    out.res.linear.sizeInBytes =
        bytes + (reinterpret_cast<u64>(pointer) - reinterpret_cast<u64>(begin));
    return out;
}

hipResourceDesc rows_resource(void *begin, const hipChannelFormatDesc &element, u64 width,
                              u64 height, u64 pitch) {
    hipResourceDesc out{};
    out.resType = hipResourceTypePitch2D;
    out.res.pitch2D.devPtr = begin;
    out.res.pitch2D.desc = element;
    out.res.pitch2D.width = width;
    out.res.pitch2D.height = height;
    out.res.pitch2D.pitchInBytes = pitch;
    return out;
}

void unbind(textureReference &reference) {
    destroy_texture(reference.textureObject);
    reference.textureObject = nullptr;
}

void bind(textureReference &reference, const hipResourceDesc &resource, u64 variable) {
    unbind(reference);
    reference.textureObject = make_texture(resource, sampling_of(reference));
    const Copy to_device = linear_copy(reinterpret_cast<void *>(variable), &reference,
                                       sizeof reference, hipMemcpyHostToDevice);
    const hipError_t copied = copy_now(nullptr, to_device);
    require(copied == hipSuccess, copied);
}

namespace {

// A reference that a compiled program registered. Headers declare it const, but binding changes it.
textureReference &registered_reference(const textureReference *reference, u64 &variable) {
    runtime();
    variable = compiled_variable(reference).address;
    return *const_cast<textureReference *>(reference);
}

} // namespace

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t hipBindTexture(size_t *offset, const textureReference *handle, const void *pointer,
                          const hipChannelFormatDesc *element, size_t bytes) {
    return api(__func__, [&] {
        u64 variable = 0;
        textureReference &reference = registered_reference(handle, variable);
        require(pointer && element, hipErrorInvalidValue);
        bind(reference, linear_resource(pointer, *element, bytes, offset), variable);
    });
}

hipError_t hipBindTexture2D(size_t *offset, const textureReference *handle, const void *pointer,
                            const hipChannelFormatDesc *element, size_t width, size_t height,
                            size_t pitch) {
    return api(__func__, [&] {
        u64 variable = 0;
        textureReference &reference = registered_reference(handle, variable);
        require(pointer && element && pitch > 0, hipErrorInvalidValue);
        void *const begin = texture_begin(pointer, offset);
        bind(reference, rows_resource(begin, *element, width, height, pitch), variable);
    });
}

hipError_t hipBindTextureToArray(const textureReference *handle, hipArray_const_t array,
                                 const hipChannelFormatDesc *element) {
    return api(__func__, [&] {
        runtime();
        require(handle && array && element, hipErrorInvalidValue);
        u64 variable = 0;
        textureReference &reference = registered_reference(handle, variable);
        bind(reference, array_resource(array), variable);
    });
}

hipError_t hipUnbindTexture(const textureReference *reference) {
    return api(__func__, [&] {
        runtime();
        require(reference != nullptr, hipErrorInvalidValue);
        unbind(*const_cast<textureReference *>(reference));
    });
}

// Textures begin where they were bound: hipBindTexture says otherwise.
hipError_t hipGetTextureAlignmentOffset(size_t *offset, const textureReference *reference) {
    return api(__func__, [&] {
        runtime();
        require(offset && reference, hipErrorInvalidValue);
        *offset = 0;
    });
}

hipError_t hipGetTextureReference(const textureReference **reference, const void *symbol) {
    return api(__func__, [&] {
        runtime();
        require(reference != nullptr, hipErrorInvalidValue);
        *reference = static_cast<const textureReference *>(symbol);
    });
}
}

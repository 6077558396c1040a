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

u64 offset_to_texture(const void *pointer) {
    return reinterpret_cast<u64>(pointer) % texture_alignment;
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

// Of one that a compiled program registered. Headers have it const, though binding changes it.
textureReference &registered_reference(const textureReference *reference, u64 &variable) {
    runtime();
    variable = compiled_variable(reference).address;
    return *const_cast<textureReference *>(reference);
}

// The texture begins at an aligned address: kernels add what `offset` gets.
void *aligned(const void *pointer, size_t *offset) {
    const u64 behind = offset_to_texture(pointer);
    require(behind == 0 || offset, hipErrorInvalidValue);
    if (offset)
        *offset = behind;
    return reinterpret_cast<void *>(reinterpret_cast<u64>(pointer) - behind);
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
        hipResourceDesc resource{};
        resource.resType = hipResourceTypeLinear;
        resource.res.linear.devPtr = aligned(pointer, offset);
        resource.res.linear.desc = *element;
        resource.res.linear.sizeInBytes = bytes + offset_to_texture(pointer);
        bind(reference, resource, variable);
    });
}

hipError_t hipBindTexture2D(size_t *offset, const textureReference *handle, const void *pointer,
                            const hipChannelFormatDesc *element, size_t width, size_t height,
                            size_t pitch) {
    return api(__func__, [&] {
        u64 variable = 0;
        textureReference &reference = registered_reference(handle, variable);
        require(pointer && element && pitch > 0, hipErrorInvalidValue);
        hipResourceDesc resource{};
        resource.resType = hipResourceTypePitch2D;
        resource.res.pitch2D.devPtr = aligned(pointer, offset);
        resource.res.pitch2D.desc = *element;
        resource.res.pitch2D.width = width;
        resource.res.pitch2D.height = height;
        resource.res.pitch2D.pitchInBytes = pitch;
        bind(reference, resource, variable);
    });
}

hipError_t hipBindTextureToArray(const textureReference *handle, hipArray_const_t array,
                                 const hipChannelFormatDesc *element) {
    return api(__func__, [&] {
        runtime();
        require(handle && array && element, hipErrorInvalidValue);
        u64 variable = 0;
        textureReference &reference = registered_reference(handle, variable);
        hipResourceDesc resource{};
        resource.resType = hipResourceTypeArray;
        resource.res.array.array = const_cast<hipArray_t>(array);
        bind(reference, resource, variable);
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

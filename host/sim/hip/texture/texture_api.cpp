// SPDX-License-Identifier: MIT
// Texture and surface objects.
#include <cstring>

#include "sim/hip/device/properties.h"
#include "sim/hip/memory/allocate.h"
#include "sim/hip/runtime.h"
#include "sim/hip/texture/array.h"
#include "sim/hip/texture/texture.h"

namespace nw::hipsim {

namespace {

void *create(const hipResourceDesc &resource, const hipTextureDesc *sampling) {
    Device &device = runtime().current_device();
    const TextureWords made = texture_words(device, resource, sampling);
    void *const at = allocate_device(device, sizeof made.words);
    std::memcpy(at, made.words, sizeof made.words);
    auto texture = std::make_shared<Texture>();
    texture->at = reinterpret_cast<u64>(at);
    texture->resource = resource;
    texture->surface = !sampling;
    if (sampling)
        texture->sampling = *sampling;
    runtime().textures.add(at, std::move(texture));
    return at;
}

void destroy(const void *handle, bool surface) {
    runtime();
    if (!handle)
        return;
    const auto found = runtime().textures.find(handle);
    require(found && found->surface == surface && runtime().textures.remove(handle),
            hipErrorInvalidValue);
    release(block_at(handle, Block::Kind::device));
}

// The driver's descriptors, as the runtime has them.
hipResourceDesc resource_of(const HIP_RESOURCE_DESC &d) {
    hipResourceDesc r{};
    require(d.flags == 0, hipErrorInvalidValue);
    switch (d.resType) {
    case HIP_RESOURCE_TYPE_ARRAY:
        r.resType = hipResourceTypeArray;
        r.res.array.array = d.res.array.hArray;
        break;
    case HIP_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        r.resType = hipResourceTypeMipmappedArray;
        break;
    case HIP_RESOURCE_TYPE_LINEAR:
        r.resType = hipResourceTypeLinear;
        r.res.linear.devPtr = reinterpret_cast<void *>(d.res.linear.devPtr);
        r.res.linear.desc = texel_of(d.res.linear.format, d.res.linear.numChannels).description();
        r.res.linear.sizeInBytes = d.res.linear.sizeInBytes;
        break;
    case HIP_RESOURCE_TYPE_PITCH2D:
        r.resType = hipResourceTypePitch2D;
        r.res.pitch2D.devPtr = reinterpret_cast<void *>(d.res.pitch2D.devPtr);
        r.res.pitch2D.desc =
            texel_of(d.res.pitch2D.format, d.res.pitch2D.numChannels).description();
        r.res.pitch2D.width = d.res.pitch2D.width;
        r.res.pitch2D.height = d.res.pitch2D.height;
        r.res.pitch2D.pitchInBytes = d.res.pitch2D.pitchInBytes;
        break;
    default:
        fail(hipErrorInvalidValue);
    }
    return r;
}

// Integers are fractions unless the flag says otherwise.
hipTextureDesc sampling_of(const HIP_TEXTURE_DESC &d) {
    hipTextureDesc t{};
    for (unsigned n = 0; n < 3; ++n)
        t.addressMode[n] = static_cast<hipTextureAddressMode>(d.addressMode[n]);
    t.filterMode = static_cast<hipTextureFilterMode>(d.filterMode);
    t.normalizedCoords = (d.flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0;
    t.readMode =
        d.flags & HIP_TRSF_READ_AS_INTEGER ? hipReadModeElementType : hipReadModeNormalizedFloat;
    t.sRGB = (d.flags & HIP_TRSF_SRGB) != 0;
    std::memcpy(t.borderColor, d.borderColor, sizeof t.borderColor);
    return t;
}

// 32-bit integers have no fractions: the driver API reads them as they are.
void read_wide_integers(hipTextureDesc &t, const HIP_RESOURCE_DESC &d) {
    const hipResourceDesc r = resource_of(d);
    const Texel texel = r.resType == hipResourceTypeArray     ? array_of(r.res.array.array).texel
                        : r.resType == hipResourceTypeLinear  ? texel_of(r.res.linear.desc)
                        : r.resType == hipResourceTypePitch2D ? texel_of(r.res.pitch2D.desc)
                                                              : Texel{};
    if (texel.bits == 32)
        t.readMode = hipReadModeElementType;
}

// The other way round.
HIP_RESOURCE_DESC driver_resource(const hipResourceDesc &r) {
    HIP_RESOURCE_DESC d{};
    if (r.resType == hipResourceTypeArray) {
        d.resType = HIP_RESOURCE_TYPE_ARRAY;
        d.res.array.hArray = r.res.array.array;
    } else if (r.resType == hipResourceTypeLinear) {
        const Texel texel = texel_of(r.res.linear.desc);
        d.resType = HIP_RESOURCE_TYPE_LINEAR;
        d.res.linear.devPtr = reinterpret_cast<hipDeviceptr_t>(r.res.linear.devPtr);
        d.res.linear.format = texel.driver_format();
        d.res.linear.numChannels = texel.channels;
        d.res.linear.sizeInBytes = r.res.linear.sizeInBytes;
    } else {
        const Texel texel = texel_of(r.res.pitch2D.desc);
        d.resType = HIP_RESOURCE_TYPE_PITCH2D;
        d.res.pitch2D.devPtr = reinterpret_cast<hipDeviceptr_t>(r.res.pitch2D.devPtr);
        d.res.pitch2D.format = texel.driver_format();
        d.res.pitch2D.numChannels = texel.channels;
        d.res.pitch2D.width = r.res.pitch2D.width;
        d.res.pitch2D.height = r.res.pitch2D.height;
        d.res.pitch2D.pitchInBytes = r.res.pitch2D.pitchInBytes;
    }
    return d;
}

HIP_TEXTURE_DESC driver_sampling(const hipTextureDesc &t) {
    HIP_TEXTURE_DESC d{};
    for (unsigned n = 0; n < 3; ++n)
        d.addressMode[n] = static_cast<HIPaddress_mode>(t.addressMode[n]);
    d.filterMode = static_cast<HIPfilter_mode>(t.filterMode);
    d.flags = (t.normalizedCoords ? HIP_TRSF_NORMALIZED_COORDINATES : 0) |
              (t.readMode == hipReadModeElementType ? HIP_TRSF_READ_AS_INTEGER : 0) |
              (t.sRGB ? HIP_TRSF_SRGB : 0);
    std::memcpy(d.borderColor, t.borderColor, sizeof d.borderColor);
    return d;
}

void no_views(const void *view) {
    if (view)
        fail(hipErrorNotSupported, "views of resources are not simulated");
}

} // namespace

hipTextureObject_t make_texture(const hipResourceDesc &resource, const hipTextureDesc &sampling) {
    return static_cast<hipTextureObject_t>(create(resource, &sampling));
}

void destroy_texture(hipTextureObject_t texture) { destroy(texture, false); }

std::shared_ptr<Texture> texture_of(hipTextureObject_t handle) {
    const auto found = runtime().textures.find(handle);
    require(found && !found->surface, hipErrorInvalidValue);
    return found;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipCreateTextureObject(hipTextureObject_t *texture, const hipResourceDesc *resource,
                                  const hipTextureDesc *sampling, const hipResourceViewDesc *view) {
    return api(__func__, [&] {
        runtime();
        require(texture && resource && sampling, hipErrorInvalidValue);
        no_views(view);
        *texture = make_texture(*resource, *sampling);
    });
}

hipError_t hipDestroyTextureObject(hipTextureObject_t texture) {
    return api(__func__, [&] { destroy_texture(texture); });
}

hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc *resource, hipTextureObject_t texture) {
    return api(__func__, [&] {
        runtime();
        require(resource && texture, hipErrorInvalidValue);
        *resource = texture_of(texture)->resource;
    });
}

hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc *sampling, hipTextureObject_t texture) {
    return api(__func__, [&] {
        runtime();
        require(sampling && texture, hipErrorInvalidValue);
        *sampling = texture_of(texture)->sampling;
    });
}

hipError_t hipTexObjectCreate(hipTextureObject_t *texture, const HIP_RESOURCE_DESC *resource,
                              const HIP_TEXTURE_DESC *sampling,
                              const HIP_RESOURCE_VIEW_DESC *view) {
    return api(__func__, [&] {
        runtime();
        require(texture && resource && sampling, hipErrorInvalidValue);
        no_views(view);
        hipTextureDesc t = sampling_of(*sampling);
        read_wide_integers(t, *resource);
        *texture = make_texture(resource_of(*resource), t);
        texture_of(*texture)->driver_sampling = *sampling;
    });
}

hipError_t hipTexObjectGetResourceDesc(HIP_RESOURCE_DESC *resource, hipTextureObject_t texture) {
    return api(__func__, [&] {
        runtime();
        require(resource && texture, hipErrorInvalidValue);
        *resource = driver_resource(texture_of(texture)->resource);
    });
}

hipError_t hipTexObjectGetTextureDesc(HIP_TEXTURE_DESC *sampling, hipTextureObject_t texture) {
    return api(__func__, [&] {
        runtime();
        require(sampling && texture, hipErrorInvalidValue);
        const auto found = texture_of(texture);
        *sampling = found->driver_sampling.value_or(driver_sampling(found->sampling));
    });
}

// No texture has a view.
hipError_t hipTexObjectGetResourceViewDesc(HIP_RESOURCE_VIEW_DESC *view,
                                           hipTextureObject_t texture) {
    return api(__func__, [&] {
        runtime();
        require(view && texture && texture_of(texture), hipErrorInvalidValue);
        *view = {};
    });
}

hipError_t hipGetTextureObjectResourceViewDesc(hipResourceViewDesc *view,
                                               hipTextureObject_t texture) {
    return api(__func__, [&] {
        runtime();
        require(view && texture && texture_of(texture), hipErrorInvalidValue);
        *view = {};
    });
}

hipError_t hipTexObjectDestroy(hipTextureObject_t texture) {
    return api(__func__, [&] { destroy_texture(texture); });
}

hipError_t linear_texels(size_t *most, const hipChannelFormatDesc *element,
                         int ordinal) asm("hipDeviceGetTexture1DLinearMaxWidth");
hipError_t linear_texels(size_t *most, const hipChannelFormatDesc *element, int ordinal) {
    return api("hipDeviceGetTexture1DLinearMaxWidth", [&] {
        runtime();
        require(most && element, hipErrorInvalidValue);
        const Device &device = runtime().device(ordinal);
        const int bytes = (element->x + element->y + element->z + element->w) / 8;
        require(bytes > 0, hipErrorInvalidValue);
        *most = static_cast<size_t>(properties(device.facts, ordinal).maxTexture1DLinear / bytes);
    });
}

// HIP 5's headers declare these two as C++.
#define SURFACE_CALL(name, mangled, params, args)                                                  \
    hipError_t name##_c params asm(#name);                                                         \
    hipError_t name##_c params { return name##_call args; }                                        \
    hipError_t name##_cxx params asm(mangled);                                                     \
    hipError_t name##_cxx params { return name##_call args; }

static hipError_t hipCreateSurfaceObject_call(hipSurfaceObject_t *surface,
                                              const hipResourceDesc *resource) {
    return api("hipCreateSurfaceObject", [&] {
        runtime();
        require(surface && resource, hipErrorInvalidValue);
        require(resource->resType == hipResourceTypeArray, hipErrorInvalidValue);
        *surface = static_cast<hipSurfaceObject_t>(create(*resource, nullptr));
    });
}

static hipError_t hipDestroySurfaceObject_call(hipSurfaceObject_t surface) {
    return api("hipDestroySurfaceObject", [&] { destroy(surface, true); });
}

SURFACE_CALL(hipCreateSurfaceObject,
             "_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc",
             (hipSurfaceObject_t * surface, const hipResourceDesc *resource), (surface, resource))
SURFACE_CALL(hipDestroySurfaceObject, "_Z23hipDestroySurfaceObjectP13__hip_surface",
             (hipSurfaceObject_t surface), (surface))
}

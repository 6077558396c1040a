// SPDX-License-Identifier: MIT
// Texture references of modules, by the driver's calls. Codes as in ROCm 6, which has them
// deprecated: getters of mipmaps write their value and return hipErrorInvalidValue.
#include <map>
#include <mutex>

#include "sim/hip/module/module.h"
#include "sim/hip/runtime.h"
#include "sim/hip/texture/array.h"
#include "sim/hip/texture/reference.h"

namespace nw::hipsim {

namespace {

// References live as long as the process: hosts keep the pointers.
struct ModuleReferences {
    struct Of {
        hipModule_t module;
        std::string name;
    };
    std::mutex mutex;
    std::map<const textureReference *, Of> all;
};
ModuleReferences &module_references() {
    static auto *const made = new ModuleReferences;
    return *made;
}

// Device variable of a module's reference. hipErrorNotFound if its module is gone.
sim::Global variable_of(const textureReference &reference) {
    ModuleReferences &references = module_references();
    const std::lock_guard lock(references.mutex);
    const auto found = references.all.find(&reference);
    require(found != references.all.end(), hipErrorNotFound);
    const auto module = runtime().modules.find(found->second.module);
    require(module != nullptr, hipErrorNotFound);
    const auto variable = module->variable(found->second.name);
    require(variable && variable->size == sizeof reference, hipErrorNotFound);
    return *variable;
}

hipChannelFormatDesc element_of(hipArray_Format format, unsigned channels) {
    return texel_of(format, channels).description();
}

template <class Body>
hipError_t with_reference(const char *call, const textureReference *reference, Body &&body) {
    return api(call, [&] {
        runtime();
        require(reference != nullptr, hipErrorInvalidValue);
        // Getters have it const, setters not: what is behind it is the host's own struct.
        body(*const_cast<textureReference *>(reference));
    });
}

template <class Value> Value &given_out(Value *out) {
    require(out != nullptr, hipErrorInvalidValue);
    return *out;
}

const hipResourceDesc &resource_behind(const textureReference &reference) {
    return texture_of(reference.textureObject)->resource;
}

} // namespace

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipModuleGetTexRef(textureReference **reference, hipModule_t handle, const char *name) {
    return api(__func__, [&] {
        runtime();
        require(reference && name && *name, hipErrorInvalidValue);
        const auto variable = find_module(handle)->variable(name);
        require(variable && variable->size == sizeof **reference, hipErrorNotFound);
        auto *const made = new textureReference{};
        made->readMode = hipReadModeNormalizedFloat;
        made->format = HIP_AD_FORMAT_FLOAT;
        made->numChannels = 1;
        ModuleReferences &references = module_references();
        const std::lock_guard lock(references.mutex);
        references.all[made] = {handle, name};
        *reference = made;
    });
}

hipError_t hipTexRefSetArray(textureReference *handle, hipArray_const_t array, unsigned flags) {
    return with_reference(__func__, handle, [&](textureReference &reference) {
        require(array && flags == HIP_TRSA_OVERRIDE_FORMAT, hipErrorInvalidValue);
        const sim::Global variable = variable_of(reference);
        const Texel &texel = array_of(array).texel;
        reference.format = texel.driver_format();
        reference.numChannels = static_cast<int>(texel.channels);
        bind(reference, array_resource(array), variable.address);
    });
}

hipError_t hipTexRefSetAddress(size_t *offset, textureReference *handle, hipDeviceptr_t pointer,
                               size_t bytes) {
    return with_reference(__func__, handle, [&](textureReference &reference) {
        const sim::Global variable = variable_of(reference);
        const hipChannelFormatDesc element =
            element_of(reference.format, static_cast<unsigned>(reference.numChannels));
        const void *const begin = reinterpret_cast<const void *>(pointer);
        bind(reference, linear_resource(begin, element, bytes, offset), variable.address);
    });
}

hipError_t hipTexRefSetAddress2D(textureReference *handle, const HIP_ARRAY_DESCRIPTOR *shape,
                                 hipDeviceptr_t pointer, size_t pitch) {
    return with_reference(__func__, handle, [&](textureReference &reference) {
        require(shape != nullptr, hipErrorInvalidValue);
        const sim::Global variable = variable_of(reference);
        bind(reference,
             rows_resource(reinterpret_cast<void *>(pointer),
                           element_of(shape->Format, shape->NumChannels), shape->Width,
                           shape->Height, pitch),
             variable.address);
    });
}

hipError_t hipTexRefGetArray(hipArray_t *array, const textureReference *handle) {
    return with_reference(__func__, handle, [&](const textureReference &reference) {
        require(array != nullptr, hipErrorInvalidValue);
        const hipResourceDesc &resource = resource_behind(reference);
        require(resource.resType == hipResourceTypeArray, hipErrorInvalidValue);
        *array = resource.res.array.array;
    });
}

hipError_t hipTexRefGetAddress(hipDeviceptr_t *pointer, const textureReference *handle) {
    return with_reference(__func__, handle, [&](const textureReference &reference) {
        require(pointer != nullptr, hipErrorInvalidValue);
        const hipResourceDesc &resource = resource_behind(reference);
        require(resource.resType != hipResourceTypeArray, hipErrorInvalidValue);
        *pointer = reinterpret_cast<hipDeviceptr_t>(resource.resType == hipResourceTypeLinear
                                                        ? resource.res.linear.devPtr
                                                        : resource.res.pitch2D.devPtr);
    });
}

// ---- how it samples: takes effect when memory is set next

hipError_t hipTexRefSetFormat(textureReference *handle, hipArray_Format format, int channels) {
    return with_reference(__func__, handle, [&](textureReference &reference) {
        reference.format = format;
        reference.numChannels = channels;
    });
}

hipError_t hipTexRefGetFormat(hipArray_Format *format, int *channels,
                              const textureReference *handle) {
    return with_reference(__func__, handle, [&](const textureReference &reference) {
        require(format && channels, hipErrorInvalidValue);
        *format = reference.format;
        *channels = reference.numChannels;
    });
}

hipError_t hipTexRefSetFlags(textureReference *handle, unsigned flags) {
    return with_reference(__func__, handle, [&](textureReference &reference) {
        reference.readMode =
            flags & HIP_TRSF_READ_AS_INTEGER ? hipReadModeElementType : hipReadModeNormalizedFloat;
        reference.normalized = (flags & HIP_TRSF_NORMALIZED_COORDINATES) != 0;
        reference.sRGB = (flags & HIP_TRSF_SRGB) != 0;
    });
}

hipError_t hipTexRefGetFlags(unsigned *flags, const textureReference *handle) {
    return with_reference(__func__, handle, [&](const textureReference &reference) {
        given_out(flags) =
            (reference.readMode == hipReadModeElementType ? HIP_TRSF_READ_AS_INTEGER : 0u) |
            (reference.normalized == 1 ? HIP_TRSF_NORMALIZED_COORDINATES : 0u) |
            (reference.sRGB == 1 ? HIP_TRSF_SRGB : 0u);
    });
}

hipError_t hipTexRefSetFilterMode(textureReference *handle, hipTextureFilterMode mode) {
    return with_reference(__func__, handle,
                          [&](textureReference &reference) { reference.filterMode = mode; });
}

hipError_t hipTexRefGetFilterMode(hipTextureFilterMode *mode, const textureReference *handle) {
    return with_reference(__func__, handle, [&](const textureReference &reference) {
        given_out(mode) = reference.filterMode;
    });
}

hipError_t hipTexRefSetAddressMode(textureReference *handle, int dimension,
                                   hipTextureAddressMode mode) {
    return with_reference(__func__, handle, [&](textureReference &reference) {
        require(dimension >= 0 && dimension <= 2, hipErrorInvalidValue);
        reference.addressMode[dimension] = mode;
    });
}

hipError_t hipTexRefGetAddressMode(hipTextureAddressMode *mode, const textureReference *handle,
                                   int dimension) {
    return with_reference(__func__, handle, [&](const textureReference &reference) {
        require(mode && (dimension == 0 || dimension == 1), hipErrorInvalidValue);
        *mode = reference.addressMode[dimension];
    });
}

hipError_t hipTexRefSetMaxAnisotropy(textureReference *handle, unsigned most) {
    return with_reference(__func__, handle,
                          [&](textureReference &reference) { reference.maxAnisotropy = most; });
}

hipError_t hipTexRefGetMaxAnisotropy(int *most, const textureReference *handle) {
    return with_reference(__func__, handle, [&](const textureReference &reference) {
        given_out(most) = static_cast<int>(reference.maxAnisotropy);
    });
}

hipError_t hipTexRefSetMipmapFilterMode(textureReference *handle, hipTextureFilterMode mode) {
    return with_reference(__func__, handle,
                          [&](textureReference &reference) { reference.mipmapFilterMode = mode; });
}

hipError_t hipTexRefGetMipmapFilterMode(hipTextureFilterMode *mode,
                                        const textureReference *handle) {
    return with_reference(__func__, handle, [&](const textureReference &reference) {
        given_out(mode) = reference.mipmapFilterMode;
        fail(hipErrorInvalidValue);
    });
}

hipError_t hipTexRefSetMipmapLevelBias(textureReference *handle, float bias) {
    return with_reference(__func__, handle,
                          [&](textureReference &reference) { reference.mipmapLevelBias = bias; });
}

hipError_t hipTexRefGetMipmapLevelBias(float *bias, const textureReference *handle) {
    return with_reference(__func__, handle, [&](const textureReference &reference) {
        given_out(bias) = reference.mipmapLevelBias;
        fail(hipErrorInvalidValue);
    });
}

hipError_t hipTexRefSetMipmapLevelClamp(textureReference *handle, float least, float most) {
    return with_reference(__func__, handle, [&](textureReference &reference) {
        reference.minMipmapLevelClamp = least;
        reference.maxMipmapLevelClamp = most;
    });
}

hipError_t hipTexRefGetMipmapLevelClamp(float *least, float *most, const textureReference *handle) {
    return with_reference(__func__, handle, [&](const textureReference &reference) {
        require(least && most, hipErrorInvalidValue);
        *least = reference.minMipmapLevelClamp;
        *most = reference.maxMipmapLevelClamp;
        fail(hipErrorInvalidValue);
    });
}
}

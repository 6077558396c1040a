// SPDX-License-Identifier: MIT
// Texture and surface objects: descriptors in device memory, which kernels find by the handle
//
#pragma once
#include <optional>

#include "sim/func/memory/image.h"
#include "sim/hip/memory/blocks.h"
#include "sim/hip/texture/texel.h"

namespace nw::hipsim {

class Device;

struct Texture {
    u64 at = 0;
    hipResourceDesc resource{};
    hipTextureDesc sampling{}; // of surfaces: none
    bool surface = false;
    std::optional<HIP_TEXTURE_DESC> driver_sampling = {}; // as hipTexObjectCreate got it
};

// Descriptors of a texture for the hardware.
struct TextureWords {
    static constexpr unsigned image = 12, sampler = 8, count = image + sampler;
    u32 words[count] = {};
};
TextureWords texture_words(const Device &, const hipResourceDesc &, const hipTextureDesc *);

// A texture of the current device, and its end: null is none. hipErrorInvalidValue.
hipTextureObject_t make_texture(const hipResourceDesc &, const hipTextureDesc &);
void destroy_texture(hipTextureObject_t);
std::shared_ptr<Texture> texture_of(hipTextureObject_t handle); // hipErrorInvalidValue

} // namespace nw::hipsim

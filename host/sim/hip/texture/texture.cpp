// SPDX-License-Identifier: MIT
// Descriptors of textures, and the checks of what they are made from.
#include "sim/hip/texture/texture.h"

#include <algorithm>
#include <cstring>

#include "base/targets.h"
#include "sim/func/memory/buffer.h"
#include "sim/hip/runtime.h"
#include "sim/hip/texture/array.h"

namespace nw::hipsim {

namespace {

using sim::ImageParts;
using sim::ImageType;
using sim::Sampler;

Generation generation_of(const Device &device) {
    const Generation generation = device.facts.target->generation;
    if (generation == Generation::gfx10)
        fail(hipErrorNotSupported, "images of gfx10 are not simulated");
    return generation;
}

ImageType type_of(const Array &a) {
    if (a.layered())
        return a.height ? ImageType::d2_array : ImageType::d1_array;
    return a.depth ? ImageType::d3 : a.height ? ImageType::d2 : ImageType::d1;
}

Sampler::Clamp clamp_of(hipTextureAddressMode mode, bool normalized) {
    switch (mode) {
    case hipAddressModeWrap: // as CUDA documents it, these need normalized coordinates
        return normalized ? Sampler::Clamp::wrap : Sampler::Clamp::last_texel;
    case hipAddressModeMirror:
        return normalized ? Sampler::Clamp::mirror : Sampler::Clamp::last_texel;
    case hipAddressModeClamp:
        return Sampler::Clamp::last_texel;
    case hipAddressModeBorder:
        return Sampler::Clamp::border;
    }
    fail(hipErrorInvalidValue);
}

Sampler::Border border_of(const float (&colour)[4]) {
    constexpr float colours[][4] = {{0, 0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1, 1}};
    for (unsigned n = 0; n < std::size(colours); ++n)
        if (std::equal(colour, colour + 4, colours[n]))
            return static_cast<Sampler::Border>(n);
    fail(hipErrorNotSupported, "border colours other than (0, 0, 0, 0), (0, 0, 0, 1) and "
                               "(1, 1, 1, 1) are not simulated");
}

Sampler sampler_of(const hipTextureDesc &d) {
    Sampler s;
    s.unnormalized = !d.normalizedCoords;
    s.linear = d.filterMode == hipFilterModeLinear;
    for (unsigned n = 0; n < 3; ++n)
        s.clamp[n] = clamp_of(d.addressMode[n], d.normalizedCoords);
    if (std::ranges::count(s.clamp, Sampler::Clamp::border))
        s.border = border_of(d.borderColor);
    return s;
}

void check_sampling(const hipTextureDesc &d, const Texel &texel, bool filtered) {
    require(d.filterMode == hipFilterModePoint || d.filterMode == hipFilterModeLinear,
            hipErrorInvalidValue);
    require(d.readMode == hipReadModeElementType || d.readMode == hipReadModeNormalizedFloat,
            hipErrorInvalidValue);
    const bool normalized = d.readMode == hipReadModeNormalizedFloat;
    require(!normalized || !texel.is_integer() || texel.bits < 32, hipErrorInvalidValue);
    require(!filtered || d.filterMode == hipFilterModePoint || normalized || !texel.is_integer(),
            hipErrorInvalidValue); // integers can't be filtered
    if (d.sRGB)
        fail(hipErrorNotSupported, "sRGB textures are not simulated");
}

ImageParts parts_of(const Array &a) {
    ImageParts p;
    p.base = a.at;
    p.width = static_cast<u32>(a.width);
    p.height = static_cast<u32>(a.rows());
    p.layers = static_cast<u32>(a.slices());
    p.pitch = static_cast<u32>(a.pitch() / a.texel.bytes());
    p.type = type_of(a);
    return p;
}

// Memory of the caller, which must be there.
void require_memory(const void *at, u64 bytes) {
    require(at != nullptr && bytes > 0 && runtime().blocks.left(at) >= bytes, hipErrorInvalidValue);
    require(reinterpret_cast<u64>(at) % texture_alignment == 0, hipErrorInvalidValue);
}

template <class Pitched> ImageParts parts_of_rows(const Pitched &rows, const Texel &texel) {
    const u64 pitch = rows.pitchInBytes;
    require(rows.width > 0 && rows.width <= most_texels && rows.height > 0 &&
                rows.height <= most_texels && pitch % texture_alignment == 0 &&
                pitch / texel.bytes() <= most_texels && rows.width * texel.bytes() <= pitch,
            hipErrorInvalidValue);
    require_memory(rows.devPtr, pitch * (rows.height - 1) + rows.width * texel.bytes());
    ImageParts p;
    p.base = reinterpret_cast<u64>(rows.devPtr);
    p.width = static_cast<u32>(rows.width);
    p.height = static_cast<u32>(rows.height);
    p.pitch = static_cast<u32>(pitch / texel.bytes());
    return p;
}

} // namespace

TextureWords texture_words(const Device &device, const hipResourceDesc &r,
                           const hipTextureDesc *sampling) {
    const Generation generation = generation_of(device);
    const bool linear = r.resType == hipResourceTypeLinear;
    const bool normalized = sampling && sampling->readMode == hipReadModeNormalizedFloat;
    TextureWords t;
    Texel texel;
    ImageParts parts;
    switch (r.resType) {
    case hipResourceTypeLinear:
        texel = texel_of(r.res.linear.desc);
        require_memory(r.res.linear.devPtr, r.res.linear.sizeInBytes);
        break;
    case hipResourceTypeArray:
        require(r.res.array.array != nullptr, hipErrorInvalidValue);
        texel = array_of(r.res.array.array).texel;
        parts = parts_of(array_of(r.res.array.array));
        break;
    case hipResourceTypePitch2D:
        texel = texel_of(r.res.pitch2D.desc);
        parts = parts_of_rows(r.res.pitch2D, texel);
        break;
    case hipResourceTypeMipmappedArray:
        fail(hipErrorNotSupported, "mipmaps are not simulated");
    default:
        fail(hipErrorInvalidValue);
    }
    u64 width = parts.width;
    if (linear) {
        width = r.res.linear.sizeInBytes / texel.bytes();
        sim::encode_buffer(reinterpret_cast<u64>(r.res.linear.devPtr), texel.bytes(),
                           static_cast<u32>(width), texel.format(normalized, generation),
                           texel.channels, t.words);
    } else {
        parts.format = texel.format(normalized, generation);
        parts.components = static_cast<u8>(texel.channels);
        sim::encode_image(parts, generation == Generation::gfx12, t.words);
    }
    t.words[8] = texel.channel_type(normalized);
    t.words[9] = texel.channel_order();
    t.words[10] = static_cast<u32>(width);
    if (sampling) {
        check_sampling(*sampling, texel, !linear);
        sampler_of(*sampling).encode(t.words + TextureWords::image);
    }
    return t;
}

} // namespace nw::hipsim

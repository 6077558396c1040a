// SPDX-License-Identifier: MIT
#include "sim/func/memory/image.h"

#include <algorithm>
#include <cmath>

namespace nw::sim {

namespace {

constexpr u32 field(u32 dword, unsigned shift, unsigned bits) {
    return dword >> shift & ((1u << bits) - 1);
}

constexpr u8 select_zero = 0, select_one = 1, select_first = 4;
constexpr unsigned filter_point = 0, filter_linear = 1, slices_linear = 2;

bool has_layers(ImageType t) {
    return t == ImageType::d3 || t == ImageType::d1_array || t == ImageType::d2_array;
}

// Where the two generations have the fields of the resource.
struct Layout {
    unsigned format, width_high_bits, height_bits, last_level, last_level_bits, depth_bits,
        pitch_bits;
};
constexpr Layout layout11{20, 12, 14, 16, 4, 13, 14}, layout12{17, 14, 16, 15, 5, 14, 16};
constexpr const Layout &layout(bool gfx12) { return gfx12 ? layout12 : layout11; }

constexpr unsigned width_low = 30, height_at = 14, swizzle_at = 20, type_at = 28, layer_at = 16;

} // namespace

Image::Image(const u32 *d, bool gfx12) {
    const Layout &l = layout(gfx12);
    base = (d[0] | u64{field(d[1], 0, 8)} << 32) << 8;
    format = static_cast<u8>(field(d[1], l.format, 8));
    width = (field(d[1], width_low, 2) | field(d[2], 0, l.width_high_bits) << 2) + 1;
    height = field(d[2], height_at, l.height_bits) + 1;
    for (unsigned c = 0; c < 4; ++c)
        select[c] = static_cast<u8>(field(d[3], 3 * c, 3));
    last_level = static_cast<u8>(field(d[3], l.last_level, l.last_level_bits));
    swizzle = static_cast<u8>(field(d[3], swizzle_at, 5));
    type = static_cast<ImageType>(field(d[3], type_at, 4));
    layers = 1;
    if (has_layers(type)) {
        first_layer = type == ImageType::d3 ? 0 : field(d[4], layer_at, 13);
        layers = field(d[4], 0, l.depth_bits) + 1 - first_layer;
    } else {
        pitch = field(d[4], 0, l.pitch_bits) + 1;
    }
    if (type == ImageType::d1 || type == ImageType::d1_array)
        height = 1;
}

const char *Image::refusal() const {
    if (type < ImageType::d1)
        return "its type is not an image's";
    if (type == ImageType::cube)
        return "cubes are not simulated";
    if (type >= ImageType::d2_samples)
        return "images of several samples are not simulated";
    if (last_level != 0)
        return "mipmaps are not simulated";
    if (swizzle != 0)
        return "its swizzle mode is not linear";
    if (pitch != 0 && pitch < width)
        return "its pitch is less than its width";
    return nullptr;
}

u64 Image::address(u32 x, u32 y, u32 layer, u32 texel_bytes) const {
    const u64 packed = u64{width} * texel_bytes;
    const u64 row =
        pitch ? u64{pitch} * texel_bytes : (packed + row_bytes - 1) / row_bytes * row_bytes;
    return base + (u64{first_layer + layer} * height + y) * row + u64{x} * texel_bytes;
}

void encode_image(const ImageParts &p, bool gfx12, u32 *d) {
    const Layout &l = layout(gfx12);
    const u32 width = p.width - 1;
    std::fill_n(d, 8, 0);
    d[0] = static_cast<u32>(p.base >> 8);
    d[1] = static_cast<u32>(p.base >> 40) | u32{p.format} << l.format | (width & 3) << width_low;
    d[2] = width >> 2 | (p.height - 1) << height_at;
    for (unsigned c = 0; c < 4; ++c) // absent colours are 0, an absent alpha is 1
        d[3] |= (c < p.components ? select_first + c : c == 3 ? select_one : select_zero) << 3 * c;
    d[3] |= static_cast<u32>(p.type) << type_at;
    d[4] = (has_layers(p.type) ? p.layers : p.pitch) - 1;
}

Sampler::Sampler(const u32 *d) {
    for (unsigned n = 0; n < 3; ++n)
        clamp[n] = static_cast<Clamp>(field(d[0], 3 * n, 3));
    unnormalized = field(d[0], 15, 1);
    magnify = static_cast<u8>(field(d[2], 20, 2));
    minify = static_cast<u8>(field(d[2], 22, 2));
    slices = static_cast<u8>(field(d[2], 24, 2));
    levels = static_cast<u8>(field(d[2], 26, 2));
    linear = magnify == filter_linear;
    border = static_cast<Border>(d[3] >> 30);
}

void Sampler::encode(u32 *d) const {
    const u32 filter = linear ? filter_linear : filter_point;
    d[0] = u32{unnormalized} << 15;
    for (unsigned n = 0; n < 3; ++n)
        d[0] |= static_cast<u32>(clamp[n]) << 3 * n;
    d[1] = 0;
    d[2] = filter << 20 | filter << 22;
    d[3] = static_cast<u32>(border) << 30;
}

const char *Sampler::refusal() const {
    if (magnify > filter_linear || minify > filter_linear)
        return "anisotropic filters are not simulated";
    if (magnify != minify)
        return "its filters differ by level of detail, which is not simulated";
    if (slices != 0 && slices != (linear ? slices_linear : 1))
        return "a filter between slices that differs from the one within is not simulated";
    if (levels != 0)
        return "filters between levels are not simulated";
    for (Clamp c : clamp) {
        if (c == Clamp::half_border || c == Clamp::mirror_half || c == Clamp::mirror_border)
            return "its clamp mode is not simulated";
        if (unnormalized && (c == Clamp::wrap || c == Clamp::mirror || c == Clamp::mirror_once))
            return "unnormalized coordinates can't wrap";
    }
    if (border == Border::table && std::ranges::count(clamp, Clamp::border) > 0)
        return "border colours from a table are not simulated";
    return nullptr;
}

namespace {

i64 clamped(i64 n, i64 size, Sampler::Clamp clamp) {
    switch (clamp) {
    case Sampler::Clamp::wrap:
        return (n % size + size) % size;
    case Sampler::Clamp::mirror: {
        const i64 m = (n % (2 * size) + 2 * size) % (2 * size);
        return m < size ? m : 2 * size - 1 - m;
    }
    case Sampler::Clamp::mirror_once:
        return std::min(n < 0 ? -1 - n : n, size - 1);
    case Sampler::Clamp::border:
        return n < 0 || n >= size ? TexelPair::outside : n;
    default:
        return std::clamp<i64>(n, 0, size - 1);
    }
}

} // namespace

TexelPair texels_at(f32 coordinate, u32 size, Sampler::Clamp clamp, bool normalized, bool linear) {
    constexpr f64 steps = 256, far = 1 << 30; // S-082: a texel has 2^8 places
    const f32 texel = normalized ? coordinate * static_cast<f32>(size) : coordinate;
    const f64 place = std::isnan(texel) ? 0 : std::clamp<f64>(texel, -far, far);
    TexelPair pair;
    if (!linear) {
        pair.at[0] = clamped(static_cast<i64>(std::floor(place)), size, clamp);
        return pair;
    }
    const f64 fixed = std::floor((place - 0.5) * steps + 0.5) / steps, first = std::floor(fixed);
    pair.count = 2;
    for (unsigned n = 0; n < 2; ++n)
        pair.at[n] = clamped(static_cast<i64>(first) + n, size, clamp);
    pair.weight[1] = fixed - first;
    pair.weight[0] = 1 - pair.weight[1];
    return pair;
}

} // namespace nw::sim

// SPDX-License-Identifier: MIT
// Image and sampler descriptors (T#, S#) of gfx11 and gfx12: texels' addresses (S-081), and the
// texels that a sampler mixes (S-082). Rows are linear: other swizzle modes are refused.
#pragma once
#include "base/types.h"

namespace nw::sim {

enum class ImageType : u8 {
    d1 = 8,
    d2,
    d3,
    cube,
    d1_array,
    d2_array,
    d2_samples,
    d2_samples_array
};

struct Image {
    u64 base = 0;
    u32 width = 0, height = 0;
    u32 layers = 0; // slices of 3D, layers of an array; 1 otherwise
    u32 first_layer = 0;
    u32 pitch = 0; // in texels; 0: rows of whole `row_bytes`
    u8 format = 0, select[4] = {}, swizzle = 0, last_level = 0;
    ImageType type = ImageType::d2;

    static constexpr u32 row_bytes = 256; // that rows are a multiple of

    Image(const u32 *dwords, bool gfx12);
    const char *refusal() const; // why it can't be used; null if it can
    u64 address(u32 x, u32 y, u32 layer, u32 texel_bytes) const;
};

// Description by this project's HIP runtime of an array or of pitched memory.
struct ImageParts {
    u64 base = 0; // of a multiple of 256
    u32 width = 1, height = 1, layers = 1, pitch = 0;
    u8 format = 0, components = 1;
    ImageType type = ImageType::d2;
};
void encode_image(const ImageParts &, bool gfx12, u32 *dwords);

struct Sampler {
    enum class Clamp : u8 {
        wrap,
        mirror,
        last_texel,
        mirror_once,
        half_border,
        mirror_half,
        border,
        mirror_border
    };
    enum class Border : u8 { transparent, black, white, table };
    Clamp clamp[3] = {};
    bool unnormalized = false, linear = false;
    Border border = Border::transparent;

    Sampler() = default;
    explicit Sampler(const u32 *dwords);
    void encode(u32 *dwords) const;
    const char *refusal() const;

    u8 magnify = 0, minify = 0, slices = 0, levels = 0; // filters as encoded
};

// The texels of one dimension that a sample mixes: one, or two with a linear filter.
struct TexelPair {
    static constexpr i64 outside = -1; // the border
    i64 at[2] = {};
    f64 weight[2] = {1, 0};
    unsigned count = 1;
};
TexelPair texels_at(f32 coordinate, u32 size, Sampler::Clamp, bool normalized, bool linear);

} // namespace nw::sim

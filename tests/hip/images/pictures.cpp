// SPDX-License-Identifier: MIT
#include "hip/images/pictures.h"

#include <algorithm>
#include <cmath>

namespace hip_test {

std::vector<unsigned char> random_texels(const Format &f, size_t count, std::mt19937 &random) {
    std::vector<unsigned char> bytes(count * f.bytes());
    for (unsigned char &b : bytes)
        b = static_cast<unsigned char>(random());
    for (size_t n = 0; f.kind == real && n < count * f.channels; ++n) {
        const float value = static_cast<float>(static_cast<int>(random() % 1024) - 512) / 16;
        const _Float16 half = static_cast<_Float16>(value);
        if (f.bits == 32)
            std::memcpy(&bytes[4 * n], &value, 4);
        else
            std::memcpy(&bytes[2 * n], &half, 2);
    }
    return bytes;
}

float component(const Format &f, bool normalized, const unsigned char *texel, unsigned c) {
    if (c >= f.channels) {
        const int one = 1;
        float alpha = 1;
        if (f.kind != real && !normalized)
            std::memcpy(&alpha, &one, 4);
        return c == 3 ? alpha : 0;
    }
    unsigned raw = 0;
    std::memcpy(&raw, texel + c * f.bits / 8, f.bits / 8);
    float value = 0;
    if (f.kind == real && f.bits == 16) {
        _Float16 half;
        std::memcpy(&half, &raw, 2);
        return static_cast<float>(half);
    }
    const int shift = static_cast<int>(32 - f.bits);
    const int sign = static_cast<int>(raw << shift) >> shift;
    if (f.kind != real && normalized)
        return f.kind == natural ? static_cast<float>(raw) / static_cast<float>((1u << f.bits) - 1)
                                 : std::max(-1.f, static_cast<float>(sign) /
                                                      static_cast<float>((1 << (f.bits - 1)) - 1));
    std::memcpy(&value, f.kind == whole ? static_cast<const void *>(&sign) : &raw, 4);
    return value;
}

hipTextureDesc texture_desc(const Sampling &s) {
    hipTextureDesc d{};
    std::fill(d.addressMode, d.addressMode + 3, s.mode);
    d.filterMode = s.filter;
    d.readMode = s.normalized_values ? hipReadModeNormalizedFloat : hipReadModeElementType;
    d.normalizedCoords = s.normalized_coordinates;
    return d;
}

// -1: the border.
static long wrapped(long i, long size, hipTextureAddressMode mode) {
    if (i >= 0 && i < size)
        return i;
    if (mode == hipAddressModeBorder)
        return -1;
    if (mode == hipAddressModeClamp)
        return i < 0 ? 0 : size - 1;
    const long turn = i >= 0 ? i / size : -((-i + size - 1) / size), rest = i - turn * size;
    return mode == hipAddressModeMirror && turn % 2 != 0 ? size - 1 - rest : rest;
}

float Picture::sample(const Sampling &s, const float *where, unsigned dims, bool layered,
                      unsigned c) const {
    long first[3] = {0, 0, 0};
    double part[3] = {0, 0, 0};
    const bool linear = s.filter == hipFilterModeLinear;
    for (unsigned d = 0; d < dims; ++d) {
        const float x =
            s.normalized_coordinates ? where[d] * static_cast<float>(size[d]) : where[d];
        const double shifted = linear ? std::floor((double{x} - 0.5) * 256 + 0.5) / 256 : double{x};
        first[d] = static_cast<long>(std::floor(shifted));
        part[d] = linear ? shifted - std::floor(shifted) : 0;
    }
    if (layered)
        first[2] = std::clamp<long>(std::lrint(where[dims]), 0, static_cast<long>(size[2]) - 1);
    const auto mode =
        s.normalized_coordinates || s.mode == hipAddressModeBorder ? s.mode : hipAddressModeClamp;
    const auto texel = [&](unsigned corner) {
        long at[3];
        for (unsigned d = 0; d < 3; ++d) {
            at[d] = d < dims
                        ? wrapped(first[d] + (corner >> d & 1), static_cast<long>(size[d]), mode)
                        : first[d];
            if (at[d] < 0)
                return c < format.channels ? 0.f
                                           : component(format, s.normalized_values, nullptr, c);
        }
        return component(format, s.normalized_values, at_or(at), c);
    };
    if (!linear)
        return texel(0);
    double sum = 0;
    for (unsigned corner = 0; corner < 1u << dims; ++corner) {
        double weight = 1;
        for (unsigned d = 0; d < dims; ++d)
            weight *= corner >> d & 1 ? part[d] : 1 - part[d];
        if (weight != 0)
            sum += weight * double{texel(corner)};
    }
    return static_cast<float>(sum);
}

Picture picture(const Format &f, size_t x, size_t y, size_t z, std::mt19937 &random) {
    return {f, {x, y, z}, random_texels(f, x * y * z, random)};
}

std::vector<Four> coordinates(const size_t *size, bool normalized, unsigned count,
                              std::mt19937 &random) {
    std::vector<Four> all(count);
    for (unsigned n = 0; n < count; ++n) {
        float c[4] = {};
        for (unsigned d = 0; d < 3; ++d) {
            const auto wide = static_cast<float>(3 * size[d]);
            const float any = std::uniform_real_distribution<float>(-wide, wide)(random);
            const float texel = n % 3 == 0   ? std::round(any * 2) / 2
                                : n % 3 == 1 ? std::round(any * 256) / 256
                                             : any;
            c[d] = normalized ? texel / static_cast<float>(size[d]) : texel;
        }
        all[n] = {c[0], c[1], c[2], c[3]};
    }
    return all;
}

bool same(float got, float want, bool sum) {
    if (std::memcmp(&got, &want, 4) == 0)
        return true;
    // The order of eight terms in f64 isn't part of the formula: the one rounding may differ.
    return sum && (got == std::nextafter(want, got) || got == want);
}

void compare(const Gpu &gpu, const char *kernel, const Picture &p, const hipResourceDesc &resource,
             const Sampling &s, unsigned dims, bool layered, std::mt19937 &random) {
    constexpr unsigned count = 150;
    const Texture texture(resource, s);
    const std::vector<Four> at = coordinates(p.size, s.normalized_coordinates, count, random);
    const Buffer<Four> where(at), out(std::vector<Four>(count, Four{-99, -99, -99, -99}));
    OK(gpu.run(kernel, count, texture.handle, where.data, out.data, static_cast<int>(count)));
    const std::vector<Four> got = out.get();
    for (unsigned n = 0; n < count; ++n)
        for (unsigned c = 0; c < 4; ++c) {
            const float want = p.sample(s, &at[n].x, dims, layered, c), have = (&got[n].x)[c];
            if (!same(have, want, s.filter == hipFilterModeLinear)) {
                CAPTURE(kernel);
                CAPTURE(p.format.channels);
                CAPTURE(p.format.bits);
                CAPTURE(s.mode);
                CAPTURE(s.filter);
                CAPTURE(s.normalized_coordinates);
                CAPTURE(at[n].x);
                CAPTURE(at[n].y);
                CAPTURE(at[n].z);
                CAPTURE(c);
                REQUIRE_EQ(have, want);
            }
        }
}

std::vector<Sampling> samplings(const Format &f) {
    std::vector<Sampling> all;
    for (auto mode :
         {hipAddressModeWrap, hipAddressModeClamp, hipAddressModeMirror, hipAddressModeBorder})
        for (auto filter : {hipFilterModePoint, hipFilterModeLinear})
            for (bool coordinates : {false, true})
                for (bool values : {false, true}) {
                    const bool integer = f.kind != real && !values;
                    if ((filter == hipFilterModeLinear && integer) ||
                        (values && (f.kind == real || f.bits == 32)))
                        continue;
                    all.push_back({mode, filter, coordinates, values});
                }
    return all;
}

} // namespace hip_test

// SPDX-License-Identifier: MIT
// Textures, surfaces and arrays (kernels/images.hip), against plain C++ of the formulas.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>

#include "base/hipsim.h"
#include "hip/common.h"

using namespace hip_test;

// Declared in no header that all versions have, or with other consts.
extern "C" {
hipError_t create_surface(hipSurfaceObject_t *,
                          const hipResourceDesc *) asm("hipCreateSurfaceObject");
hipError_t destroy_surface(hipSurfaceObject_t) asm("hipDestroySurfaceObject");
hipError_t array_info(hipChannelFormatDesc *, hipExtent *, unsigned *,
                      const void *) asm("hipArrayGetInfo");
hipError_t copy_arrays(void *, size_t, size_t, const void *, size_t, size_t, size_t, size_t,
                       hipMemcpyKind) asm("hipMemcpy2DArrayToArray");
}

namespace {

const char *const targets[] = {"gfx1100", "gfx1151", "gfx1201"};

struct Four { // as float4, whose members aren't plain floats on the host
    float x, y, z, w;
};

struct ImageCode {
    explicit ImageCode(const std::string &gfx) {
        const std::string path = NW_BUILD_DIR "/tests/hip/code/images_" + gfx + ".hsaco";
        OK(hipModuleLoad(&module, path.c_str()));
    }
    ~ImageCode() { static_cast<void>(hipModuleUnload(module)); }
    hipFunction_t operator[](const char *name) const {
        hipFunction_t function = nullptr;
        OK(hipModuleGetFunction(&function, module, name));
        return function;
    }
    hipModule_t module = nullptr;
};

// On one target, under all checkers.
struct Gpu {
    explicit Gpu(const std::string &gfx) : device(gfx + "?check=all"), code(gfx) {}
    template <class... Args> hipError_t run(const char *kernel, size_t items, Args... args) const {
        void *params[] = {&args..., nullptr};
        constexpr unsigned block = 64;
        const unsigned groups = static_cast<unsigned>((items + block - 1) / block);
        if (const hipError_t error = hipModuleLaunchKernel(code[kernel], groups, 1, 1, block, 1, 1,
                                                           0, nullptr, params, nullptr))
            return error;
        return hipDeviceSynchronize();
    }
    OwnDevice device;
    ImageCode code;
};

template <class T> struct Buffer {
    explicit Buffer(const std::vector<T> &from) : count(from.size()) {
        OK(hipMalloc(reinterpret_cast<void **>(&data), count * sizeof(T)));
        OK(hipMemcpy(data, from.data(), count * sizeof(T), hipMemcpyHostToDevice));
    }
    ~Buffer() { static_cast<void>(hipFree(data)); }
    std::vector<T> get() const {
        std::vector<T> v(count);
        OK(hipMemcpy(v.data(), data, count * sizeof(T), hipMemcpyDeviceToHost));
        return v;
    }
    T *data = nullptr;
    size_t count;
};

// ---- what an element holds

struct Format {
    unsigned channels, bits;
    hipChannelFormatKind kind;
    hipChannelFormatDesc desc() const {
        const auto of = [&](unsigned n) { return n < channels ? static_cast<int>(bits) : 0; };
        return {of(0), of(1), of(2), of(3), kind};
    }
    unsigned bytes() const { return channels * bits / 8; }
};

constexpr auto real = hipChannelFormatKindFloat;
constexpr auto whole = hipChannelFormatKindSigned, natural = hipChannelFormatKindUnsigned;
const Format formats[] = {{1, 32, real},    {2, 32, real},   {4, 32, real},    {1, 16, real},
                          {4, 16, real},    {1, 8, natural}, {4, 8, natural},  {2, 8, whole},
                          {1, 16, natural}, {2, 16, whole},  {4, 16, natural}, {1, 32, whole},
                          {4, 32, natural}};

// Small multiples of 1/16, which f16 holds, too; integers of all values.
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

// A component as a register has it: a float, or an integer's bits.
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

// ---- the formula of a sample (S-082)

struct Sampling {
    hipTextureAddressMode mode = hipAddressModeClamp;
    hipTextureFilterMode filter = hipFilterModePoint;
    bool normalized_coordinates = false, normalized_values = false;
};

hipTextureDesc texture_desc(const Sampling &s) {
    hipTextureDesc d{};
    std::fill(d.addressMode, d.addressMode + 3, s.mode);
    d.filterMode = s.filter;
    d.readMode = s.normalized_values ? hipReadModeNormalizedFloat : hipReadModeElementType;
    d.normalizedCoords = s.normalized_coordinates;
    return d;
}

// -1: the border.
long wrapped(long i, long size, hipTextureAddressMode mode) {
    if (i >= 0 && i < size)
        return i;
    if (mode == hipAddressModeBorder)
        return -1;
    if (mode == hipAddressModeClamp)
        return i < 0 ? 0 : size - 1;
    const long turn = i >= 0 ? i / size : -((-i + size - 1) / size), rest = i - turn * size;
    return mode == hipAddressModeMirror && turn % 2 != 0 ? size - 1 - rest : rest;
}

struct Picture {
    Format format;
    size_t size[3];
    std::vector<unsigned char> texels; // without padding

    const unsigned char *at(long x, long y, long z) const {
        return &texels[((static_cast<size_t>(z) * size[1] + static_cast<size_t>(y)) * size[0] +
                        static_cast<size_t>(x)) *
                       format.bytes()];
    }
    // `dims` coordinates are filtered; the next one is a layer.
    float sample(const Sampling &s, const float *where, unsigned dims, bool layered,
                 unsigned c) const {
        long first[3] = {0, 0, 0};
        double part[3] = {0, 0, 0};
        const bool linear = s.filter == hipFilterModeLinear;
        for (unsigned d = 0; d < dims; ++d) {
            const float x =
                s.normalized_coordinates ? where[d] * static_cast<float>(size[d]) : where[d];
            const double shifted =
                linear ? std::floor((double{x} - 0.5) * 256 + 0.5) / 256 : double{x};
            first[d] = static_cast<long>(std::floor(shifted));
            part[d] = linear ? shifted - std::floor(shifted) : 0;
        }
        if (layered)
            first[2] = std::clamp<long>(std::lrint(where[dims]), 0, static_cast<long>(size[2]) - 1);
        const auto mode = s.normalized_coordinates || s.mode == hipAddressModeBorder
                              ? s.mode
                              : hipAddressModeClamp;
        const auto texel = [&](unsigned corner) {
            long at[3];
            for (unsigned d = 0; d < 3; ++d) {
                at[d] = d < dims ? wrapped(first[d] + (corner >> d & 1), static_cast<long>(size[d]),
                                           mode)
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
    const unsigned char *at_or(const long *p) const { return at(p[0], p[1], p[2]); }
};

Picture picture(const Format &f, size_t x, size_t y, size_t z, std::mt19937 &random) {
    return {f, {x, y, z}, random_texels(f, x * y * z, random)};
}

// ---- where it is

// A picture in an array, with whole-array copies in.
struct InArray {
    InArray(const Picture &p, hipExtent extent, unsigned flags) {
        const hipChannelFormatDesc desc = p.format.desc();
        OK(hipMalloc3DArray(&array, &desc, extent, flags));
        hipMemcpy3DParms copy{};
        const size_t row = p.size[0] * p.format.bytes();
        copy.srcPtr = {const_cast<unsigned char *>(p.texels.data()), row, p.size[0], p.size[1]};
        copy.dstArray = array;
        copy.extent = {p.size[0], p.size[1], p.size[2]};
        copy.kind = hipMemcpyHostToDevice;
        OK(hipMemcpy3D(&copy));
        resource.resType = hipResourceTypeArray;
        resource.res.array.array = array;
    }
    ~InArray() { static_cast<void>(hipFreeArray(array)); }
    hipArray_t array = nullptr;
    hipResourceDesc resource{};
};

struct Texture {
    Texture(const hipResourceDesc &resource, const Sampling &s) {
        const hipTextureDesc desc = texture_desc(s);
        OK(hipCreateTextureObject(&handle, &resource, &desc, nullptr));
    }
    ~Texture() { static_cast<void>(hipDestroyTextureObject(handle)); }
    hipTextureObject_t handle = nullptr;
};

struct Surface {
    explicit Surface(hipArray_t array) {
        hipResourceDesc resource{};
        resource.resType = hipResourceTypeArray;
        resource.res.array.array = array;
        OK(create_surface(&handle, &resource));
    }
    ~Surface() { static_cast<void>(destroy_surface(handle)); }
    hipSurfaceObject_t handle = nullptr;
};

// Inside, at edges, and beyond them on both sides; some on the grid of 1/256, some anywhere.
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

// All that a format allows.
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

} // namespace

TEST_CASE("linear memory by tex1Dfetch") {
    for (const char *gfx : targets) {
        const Gpu gpu(gfx);
        std::vector<float> values(100);
        for (unsigned n = 0; n < values.size(); ++n)
            values[n] = static_cast<float>(n) * 1.5f;
        const Buffer<float> in(values), out(std::vector<float>(120, -1));
        hipResourceDesc resource{};
        resource.resType = hipResourceTypeLinear;
        resource.res.linear.devPtr = in.data;
        resource.res.linear.desc = {32, 0, 0, 0, real};
        resource.res.linear.sizeInBytes = values.size() * 4;
        const Texture texture(resource, {});
        OK(gpu.run("fetch", 120, texture.handle, out.data, -10, 120));
        const std::vector<float> got = out.get();
        for (int n = 0; n < 120; ++n)
            CHECK_EQ(got[static_cast<size_t>(n)],
                     n < 10 || n >= 110 ? 0.f : values[static_cast<size_t>(n - 10)]);
    }
}

TEST_CASE("every format in linear memory") {
    std::mt19937 random(1);
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        for (const Format &f : formats)
            for (bool normalized : {false, true}) {
                if (normalized && (f.kind == real || f.bits == 32))
                    continue;
                constexpr unsigned count = 64;
                const Picture p = picture(f, count, 1, 1, random);
                const Buffer<unsigned char> in(p.texels);
                hipResourceDesc resource{};
                resource.resType = hipResourceTypeLinear;
                resource.res.linear.devPtr = in.data;
                resource.res.linear.desc = f.desc();
                resource.res.linear.sizeInBytes = p.texels.size();
                Sampling s;
                s.normalized_values = normalized;
                const Texture texture(resource, s);
                std::vector<Four> at(count);
                for (unsigned n = 0; n < count; ++n)
                    at[n].x = static_cast<float>(n);
                const Buffer<Four> where(at), out(at);
                OK(gpu.run("raw_fetch", count, texture.handle, where.data, out.data,
                           static_cast<int>(count)));
                const std::vector<Four> got = out.get();
                for (unsigned n = 0; n < count; ++n)
                    for (unsigned c = 0; c < 4; ++c) {
                        const float want = component(f, normalized, p.at(n, 0, 0), c);
                        CHECK(std::memcmp(&(&got[n].x)[c], &want, 4) == 0);
                    }
            }
    }
}

TEST_CASE("arrays of one, two and three dimensions: all formats, filters and address modes") {
    std::mt19937 random(2);
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        for (const Format &f : formats) {
            const Picture row = picture(f, 37, 1, 1, random), flat = picture(f, 21, 13, 1, random),
                          box = picture(f, 9, 7, 5, random);
            const InArray in_row(row, {37, 0, 0}, 0), in_flat(flat, {21, 13, 0}, 0),
                in_box(box, {9, 7, 5}, 0);
            for (const Sampling &s : samplings(f)) {
                compare(gpu, "sample_1D", row, in_row.resource, s, 1, false, random);
                compare(gpu, "sample_2D", flat, in_flat.resource, s, 2, false, random);
                compare(gpu, "sample_3D", box, in_box.resource, s, 3, false, random);
            }
        }
    }
}

TEST_CASE("layers, levels and gradients") {
    std::mt19937 random(3);
    for (const char *gfx : targets) {
        const Gpu gpu(gfx);
        const Format f{2, 32, real};
        const Picture rows = picture(f, 19, 1, 6, random), planes = picture(f, 11, 8, 4, random),
                      flat = picture(f, 21, 13, 1, random);
        const InArray in_rows(rows, {19, 0, 6}, hipArrayLayered),
            in_planes(planes, {11, 8, 4}, hipArrayLayered), in_flat(flat, {21, 13, 0}, 0);
        for (const Sampling &s : samplings(f)) {
            compare(gpu, "sample_2Da", planes, in_planes.resource, s, 2, true, random);
            compare(gpu, "sample_1Da", rows, in_rows.resource, s, 1, true, random);
            compare(gpu, "sample_lod_2D", flat, in_flat.resource, s, 2, false, random);
            compare(gpu, "sample_grad_2D", flat, in_flat.resource, s, 2, false, random);
        }
    }
}

TEST_CASE("pitched memory by tex2D") {
    for (auto attribute :
         {hipDeviceAttributeTextureAlignment, hipDeviceAttributeTexturePitchAlignment}) {
        int alignment = 0;
        OK(hipDeviceGetAttribute(&alignment, attribute, 0));
        CHECK_EQ(alignment, 256);
    }
    std::mt19937 random(4);
    for (const char *gfx : targets) {
        const Gpu gpu(gfx);
        const Picture p = picture({1, 32, real}, 50, 10, 1, random);
        void *memory = nullptr;
        size_t pitch = 0;
        OK(hipMallocPitch(&memory, &pitch, 200, 10));
        OK(hipMemcpy2D(memory, pitch, p.texels.data(), 200, 200, 10, hipMemcpyHostToDevice));
        hipResourceDesc resource{};
        resource.resType = hipResourceTypePitch2D;
        resource.res.pitch2D.devPtr = memory;
        resource.res.pitch2D.desc = p.format.desc();
        resource.res.pitch2D.width = 50;
        resource.res.pitch2D.height = 10;
        resource.res.pitch2D.pitchInBytes = pitch;
        for (const Sampling &s : samplings(p.format)) {
            const Texture texture(resource, s);
            const std::vector<Four> at = coordinates(p.size, s.normalized_coordinates, 100, random);
            const Buffer<Four> where(at);
            const Buffer<float> out(std::vector<float>(100, -99));
            OK(gpu.run("tex_2d", 100, texture.handle, where.data, out.data, 100));
            const std::vector<float> got = out.get();
            for (unsigned n = 0; n < 100; ++n)
                CHECK(same(got[n], p.sample(s, &at[n].x, 2, false, 0),
                           s.filter == hipFilterModeLinear));
        }
        hipResourceDesc bad = resource;
        hipTextureObject_t texture = nullptr;
        const hipTextureDesc desc = texture_desc({});
        bad.res.pitch2D.pitchInBytes = 200; // not a multiple of the alignment
        FAILS(hipCreateTextureObject(&texture, &bad, &desc, nullptr), hipErrorInvalidValue);
        bad = resource;
        bad.res.pitch2D.height = 11; // beyond the allocation
        FAILS(hipCreateTextureObject(&texture, &bad, &desc, nullptr), hipErrorInvalidValue);
        OK(hipFree(memory));
    }
}

TEST_CASE("four texels by gather") {
    std::mt19937 random(5);
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        const Picture p = picture({2, 32, real}, 8, 8, 1, random);
        const InArray in(p, {8, 8, 0}, hipArrayTextureGather);
        const Texture texture(in.resource, {});
        const Buffer<Four> where({{3.25f, 4.75f, 0, 0}}), out(std::vector<Four>(1));
        OK(gpu.run("gather_2D", 1, texture.handle, where.data, out.data, 1));
        const Four got = out.get()[0];
        const auto green = [&](long x, long y) {
            return component(p.format, false, p.at(x, y, 0), 1);
        };
        CHECK_EQ(got.x, green(2, 5));
        CHECK_EQ(got.y, green(3, 5));
        CHECK_EQ(got.z, green(3, 4));
        CHECK_EQ(got.w, green(2, 4));
    }
}

TEST_CASE("surfaces") {
    std::mt19937 random(6);
    constexpr int width = 20, height = 9;
    for (const char *gfx : targets) {
        const Gpu gpu(gfx);
        const Picture p = picture({1, 32, real}, width, height, 1, random);
        const InArray from(p, {width, height, 0}, hipArraySurfaceLoadStore),
            to(p, {width, height, 0}, hipArraySurfaceLoadStore);
        const Surface in(from.array), out(to.array);
        OK(gpu.run("surface_2d", width * height, in.handle, out.handle, width, height));
        float got[height][width];
        OK(hipMemcpy2DFromArray(got, sizeof got[0], to.array, 0, 0, sizeof got[0], height,
                                hipMemcpyDeviceToHost));
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
                CHECK_EQ(got[height - 1 - y][x], component(p.format, false, p.at(x, y, 0), 0) + 1);

        const Picture box = picture({1, 32, real}, 6, 5, 4, random);
        const InArray in_box(box, {6, 5, 4}, hipArraySurfaceLoadStore);
        const Surface boxes(in_box.array);
        const Buffer<float> values(std::vector<float>(120));
        OK(gpu.run("surface_3d", 120, boxes.handle, values.data, 6, 5, 4));
        CHECK(std::memcmp(values.get().data(), box.texels.data(), box.texels.size()) == 0);

        const Picture row = picture({4, 32, real}, 30, 1, 1, random);
        const InArray in_row(row, {30, 0, 0}, hipArraySurfaceLoadStore);
        const Surface rows(in_row.array);
        OK(gpu.run("surface_1d", 30, rows.handle, 30));
        Four after[30];
        OK(hipMemcpyFromArray(after, in_row.array, 0, 0, sizeof after, hipMemcpyDeviceToHost));
        for (int x = 0; x < 30; ++x)
            CHECK_EQ(after[x].x, component(row.format, false, row.at(x, 0, 0), 0) +
                                     component(row.format, false, row.at(x, 0, 0), 3));
    }
}

TEST_CASE("integers through surfaces, and texels out of bounds") {
    std::mt19937 random(7);
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        for (const Format &f : {Format{4, 32, natural}, Format{2, 32, whole}}) {
            const Picture p = picture(f, 10, 10, 1, random);
            const InArray in(p, {10, 10, 0}, hipArraySurfaceLoadStore);
            const Surface surface(in.array);
            OK(gpu.run("invert", 100, surface.handle, 10, 10));
            std::vector<unsigned char> got(p.texels.size());
            OK(hipMemcpy2DFromArray(got.data(), 10 * f.bytes(), in.array, 0, 0, 10 * f.bytes(), 10,
                                    hipMemcpyDeviceToHost));
            for (size_t n = 0; n < got.size(); ++n)
                CHECK_EQ(got[n], static_cast<unsigned char>(~p.texels[n]));
        }
        const Picture p = picture({1, 32, real}, 10, 10, 1, random);
        const InArray in(p, {10, 10, 0}, hipArraySurfaceLoadStore);
        const Surface surface(in.array);
        const Buffer<float> out(std::vector<float>(5, -1));
        OK(gpu.run("beyond", 5, surface.handle, out.data, 10, 10));
        for (float x : out.get())
            CHECK_EQ(x, 0.f);
        std::vector<unsigned char> got(p.texels.size());
        OK(hipMemcpy2DFromArray(got.data(), 40, in.array, 0, 0, 40, 10, hipMemcpyDeviceToHost));
        CHECK(got == p.texels);
    }
}

TEST_CASE("checkers see images: races, freed arrays") {
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        std::mt19937 random(8);
        const Picture p = picture({1, 32, real}, 4, 4, 1, random);
        CapturedStderr said;
        {
            const InArray in(p, {4, 4, 0}, hipArraySurfaceLoadStore);
            const Surface surface(in.array);
            CHECK_NE(gpu.run("race", 32, surface.handle), hipSuccess);
        }
        CHECK(said.text().find("race: ") != std::string::npos);
        CHECK(said.text().find("image_store") != std::string::npos);
    }
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const Gpu gpu(gfx);
        std::mt19937 random(9);
        const Picture p = picture({1, 32, real}, 4, 4, 1, random);
        CapturedStderr said;
        InArray in(p, {4, 4, 0}, 0);
        const Texture texture(in.resource, {});
        OK(hipFreeArray(std::exchange(in.array, nullptr)));
        const Buffer<Four> where({{1, 1, 0, 0}}), out(std::vector<Four>(1));
        CHECK_NE(gpu.run("sample_2D", 1, texture.handle, where.data, out.data, 1), hipSuccess);
        CHECK(said.text().find("freed") != std::string::npos);
    }
}

TEST_CASE("a texture of another kind than the instruction's is named") {
    const Gpu gpu("gfx1151");
    std::mt19937 random(10);
    const Picture p = picture({1, 32, real}, 4, 4, 1, random);
    const InArray in(p, {4, 4, 0}, 0);
    const Texture texture(in.resource, {});
    const Buffer<Four> where({{1, 1, 0, 0}}), out(std::vector<Four>(1));
    CapturedStderr said;
    CHECK_NE(gpu.run("sample_3D", 1, texture.handle, where.data, out.data, 1), hipSuccess);
    CHECK(said.text().find("bad image descriptor") != std::string::npos);
}

TEST_CASE("arrays: sizes, copies of parts, copies between them") {
    const hipChannelFormatDesc two_halves{16, 16, 0, 0, real};
    hipArray_t a = nullptr, b = nullptr;
    OK(hipMallocArray(&a, &two_halves, 30, 20, 0));
    OK(hipMallocArray(&b, &two_halves, 30, 20, hipArraySurfaceLoadStore));
    hipChannelFormatDesc desc{};
    hipExtent extent{};
    unsigned flags = 0;
    OK(array_info(&desc, &extent, &flags, b));
    CHECK(std::memcmp(&desc, &two_halves, sizeof desc) == 0);
    CHECK_EQ(extent.width, 30u);
    CHECK_EQ(extent.height, 20u);
    CHECK_EQ(flags, unsigned{hipArraySurfaceLoadStore});

    std::vector<int> texels(600), got(600, -1);
    for (int n = 0; n < 600; ++n)
        texels[static_cast<size_t>(n)] = n * 7;
    OK(hipMemcpyToArray(a, 0, 0, texels.data(), 2400, hipMemcpyHostToDevice)); // row by row
    OK(copy_arrays(b, 0, 0, a, 0, 0, 120, 20, hipMemcpyDeviceToDevice));
    OK(hipMemcpy2DFromArray(got.data(), 120, b, 0, 0, 120, 20, hipMemcpyDeviceToHost));
    CHECK(got == texels);
    int part[2][3];
    OK(hipMemcpy2DFromArray(part, 12, a, 4 * 5, 7, 12, 2, hipMemcpyDeviceToHost));
    CHECK_EQ(part[1][2], texels[8 * 30 + 7]);
    int row[4];
    OK(hipMemcpyAtoH(row, a, 8, sizeof row));
    CHECK_EQ(row[3], texels[5]);
    FAILS(hipMemcpy2DFromArray(part, 12, a, 112, 0, 12, 2, hipMemcpyDeviceToHost),
          hipErrorInvalidValue);
    FAILS(hipMemcpy2DFromArray(part, 12, a, 0, 19, 12, 2, hipMemcpyDeviceToHost),
          hipErrorInvalidValue);

    OK(hipFreeArray(a));
    FAILS(hipFreeArray(a), hipErrorContextIsDestroyed);
    FAILS(hipMemcpyAtoH(row, a, 0, 4), hipErrorInvalidHandle);
    OK(hipFreeArray(b));
    const hipChannelFormatDesc three{8, 8, 8, 0, natural}, mixed{8, 16, 0, 0, natural};
    FAILS(hipMallocArray(&a, &three, 4, 4, 0), hipErrorInvalidValue);
    FAILS(hipMallocArray(&a, &mixed, 4, 4, 0), hipErrorInvalidValue);
    FAILS(hipMallocArray(&a, &two_halves, 0, 4, 0), hipErrorInvalidValue);
    FAILS(hipMallocArray(&a, nullptr, 4, 4, 0), hipErrorInvalidValue);
}

// By asm names: in not all of the headers, or with other consts.
#define ASM_NAME(name, ...) extern "C" hipError_t other_##name(__VA_ARGS__) asm(#name)
ASM_NAME(hipArrayGetDescriptor, HIP_ARRAY_DESCRIPTOR *, const void *);
ASM_NAME(hipArray3DGetDescriptor, HIP_ARRAY3D_DESCRIPTOR *, const void *);
ASM_NAME(hipMemcpyHtoAAsync, void *, size_t, const void *, size_t, hipStream_t);
ASM_NAME(hipMemcpyAtoHAsync, void *, const void *, size_t, size_t, hipStream_t);
ASM_NAME(hipMemcpyAtoD, void *, const void *, size_t, size_t);
ASM_NAME(hipMemcpyDtoA, void *, size_t, const void *, size_t);
ASM_NAME(hipMemcpyAtoA, void *, size_t, const void *, size_t, size_t);
ASM_NAME(hipMemcpy2DToArray_spt, void *, size_t, size_t, const void *, size_t, size_t, size_t,
         hipMemcpyKind);
ASM_NAME(hipMemcpy2DToArrayAsync_spt, void *, size_t, size_t, const void *, size_t, size_t, size_t,
         hipMemcpyKind, hipStream_t);
ASM_NAME(hipMemcpy2DFromArray_spt, void *, size_t, const void *, size_t, size_t, size_t, size_t,
         hipMemcpyKind);
ASM_NAME(hipMemcpy2DFromArrayAsync_spt, void *, size_t, const void *, size_t, size_t, size_t,
         size_t, hipMemcpyKind, hipStream_t);
ASM_NAME(_Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc, hipSurfaceObject_t *,
         const hipResourceDesc *);
ASM_NAME(_Z23hipDestroySurfaceObjectP13__hip_surface, hipSurfaceObject_t);

TEST_CASE("the driver's arrays, and copies of one row") {
    const HIP_ARRAY_DESCRIPTOR flat{8, 4, HIP_AD_FORMAT_UNSIGNED_INT16, 2};
    const HIP_ARRAY3D_DESCRIPTOR box{8, 4, 3, HIP_AD_FORMAT_UNSIGNED_INT16, 2, 0};
    hipArray_t a = nullptr, b = nullptr;
    OK(hipArrayCreate(&a, &flat));
    OK(hipArray3DCreate(&b, &box));
    HIP_ARRAY_DESCRIPTOR flat_again{};
    HIP_ARRAY3D_DESCRIPTOR box_again{};
    OK(other_hipArrayGetDescriptor(&flat_again, a));
    OK(other_hipArray3DGetDescriptor(&box_again, b));
    CHECK(std::memcmp(&flat_again, &flat, sizeof flat) == 0);
    CHECK(std::memcmp(&box_again, &box, sizeof box) == 0);
    hipChannelFormatDesc channels{};
    OK(hipGetChannelDesc(&channels, b));
    CHECK_EQ(channels.y, 16);
    CHECK_EQ(channels.z, 0);

    const std::vector<int> row{1, 2, 3, 4, 5, 6, 7, 8};
    const Buffer<int> memory(row);
    OK(hipMemcpyHtoA(a, 4, row.data(), 12)); // _ 1 2 3 ...
    OK(other_hipMemcpyHtoAAsync(a, 16, row.data(), 16, nullptr));
    OK(other_hipMemcpyDtoA(a, 0, memory.data + 6, 4));
    OK(other_hipMemcpyAtoA(b, 0, a, 4, 28));
    OK(other_hipMemcpyAtoD(memory.data, b, 0, 28));
    CHECK(memory.get() == std::vector<int>{1, 2, 3, 1, 2, 3, 4, 8});
    int first = 0;
    OK(other_hipMemcpyAtoHAsync(&first, a, 0, 4, nullptr));
    OK(hipDeviceSynchronize());
    CHECK_EQ(first, 7);
    FAILS(hipMemcpyHtoA(a, 4, row.data(), 32), hipErrorInvalidValue);
    OK(hipArrayDestroy(a));
    OK(hipArrayDestroy(b));
}

TEST_CASE("copies of rows, on every stream") {
    const hipChannelFormatDesc channel{32, 0, 0, 0, whole};
    hipArray_t array = nullptr;
    OK(hipMallocArray(&array, &channel, 5, 4, 0));
    const OwnStream stream;
    int from[4][5], to[4][5];
    int value = 0;
    const auto to_array = hipMemcpyHostToDevice;
    const auto to_host = hipMemcpyDeviceToHost;
    const auto check = [&](auto in, auto out) {
        for (auto &row : from)
            for (int &x : row)
                x = ++value;
        OK(in());
        OK(hipDeviceSynchronize());
        OK(out());
        OK(hipDeviceSynchronize());
        CHECK(std::memcmp(from, to, sizeof to) == 0);
    };
    check([&] { return hipMemcpy2DToArray(array, 0, 0, from, 20, 20, 4, to_array); },
          [&] { return hipMemcpy2DFromArrayAsync(to, 20, array, 0, 0, 20, 4, to_host, stream); });
    check([&] { return hipMemcpy2DToArrayAsync(array, 0, 0, from, 20, 20, 4, to_array, stream); },
          [&] { return other_hipMemcpy2DFromArray_spt(to, 20, array, 0, 0, 20, 4, to_host); });
    check([&] { return other_hipMemcpy2DToArray_spt(array, 0, 0, from, 20, 20, 4, to_array); },
          [&] {
              return other_hipMemcpy2DFromArrayAsync_spt(to, 20, array, 0, 0, 20, 4, to_host,
                                                         nullptr);
          });
    check(
        [&] {
            return other_hipMemcpy2DToArrayAsync_spt(array, 0, 0, from, 20, 20, 4, to_array,
                                                     nullptr);
        },
        [&] { return hipMemcpy2DFromArray(to, 20, array, 0, 0, 20, 4, to_host); });
    OK(hipFreeArray(array));
}

TEST_CASE("the driver's textures, and what a texture was made from") {
    const Gpu gpu("gfx1151");
    std::mt19937 random(11);
    const Picture p = picture({1, 8, natural}, 16, 8, 1, random);
    const InArray in(p, {16, 8, 0}, 0);
    HIP_RESOURCE_DESC resource{};
    resource.resType = HIP_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = in.array;
    HIP_TEXTURE_DESC desc{}; // wraps, point filter, fractions
    desc.flags = HIP_TRSF_NORMALIZED_COORDINATES;
    hipTextureObject_t texture = nullptr;
    OK(hipTexObjectCreate(&texture, &resource, &desc, nullptr));
    const Sampling s{hipAddressModeWrap, hipFilterModePoint, true, true};
    const std::vector<Four> at = coordinates(p.size, true, 50, random);
    const Buffer<Four> where(at), out(at);
    OK(gpu.run("sample_2D", 50, texture, where.data, out.data, 50));
    for (unsigned n = 0; n < 50; ++n)
        CHECK_EQ(out.get()[n].x, p.sample(s, &at[n].x, 2, false, 0));
    hipResourceDesc from{};
    hipTextureDesc how{};
    OK(hipGetTextureObjectResourceDesc(&from, texture));
    OK(hipGetTextureObjectTextureDesc(&how, texture));
    CHECK_EQ(from.res.array.array, in.array);
    CHECK_EQ(how.normalizedCoords, 1);
    CHECK_EQ(how.readMode, hipReadModeNormalizedFloat);
    OK(hipTexObjectDestroy(texture));
    FAILS(hipGetTextureObjectTextureDesc(&how, texture), hipErrorInvalidValue);

    hipSurfaceObject_t surface = nullptr;
    OK(other__Z22hipCreateSurfaceObjectPP13__hip_surfacePK15hipResourceDesc(&surface,
                                                                            &in.resource));
    FAILS(hipDestroyTextureObject(reinterpret_cast<hipTextureObject_t>(surface)),
          hipErrorInvalidValue);
    OK(other__Z23hipDestroySurfaceObjectP13__hip_surface(surface));
}

TEST_CASE("what is not simulated is refused by name") {
    CapturedStderr said;
    const hipChannelFormatDesc byte{8, 0, 0, 0, natural};
    hipArray_t array = nullptr;
    FAILS(hipMalloc3DArray(&array, &byte, {4, 4, 6}, hipArrayCubemap), hipErrorNotSupported);
    OK(hipMallocArray(&array, &byte, 4, 4, 0));
    hipResourceDesc resource{};
    resource.resType = hipResourceTypeArray;
    resource.res.array.array = array;
    hipTextureObject_t texture = nullptr;
    const auto refused = [&](auto change) {
        hipTextureDesc desc = texture_desc({});
        hipResourceDesc from = resource;
        change(desc, from);
        return std::string(
            hipGetErrorName(hipCreateTextureObject(&texture, &from, &desc, nullptr)));
    };
    CHECK_EQ(refused([](auto &d, auto &) { d.filterMode = hipFilterModeLinear; }),
             "hipErrorInvalidValue"); // of integers
    CHECK_EQ(refused([](auto &d, auto &) { d.sRGB = 1; }), "hipErrorNotSupported");
    CHECK_EQ(refused([](auto &, auto &r) { r.resType = hipResourceTypeMipmappedArray; }),
             "hipErrorNotSupported");
    CHECK_EQ(refused([](auto &d, auto &) {
                 d.addressMode[0] = hipAddressModeBorder;
                 d.borderColor[1] = 0.5f;
             }),
             "hipErrorNotSupported");
    for (const char *name : {"cubes", "sRGB", "mipmaps", "border colours"})
        CHECK_MESSAGE(said.text().find(name) != std::string::npos, name);
    OK(hipFreeArray(array));
    {
        const OwnDevice old("gfx1030");
        hipArray_t there = nullptr;
        OK(hipMallocArray(&there, &byte, 4, 4, 0));
        resource.res.array.array = there;
        const hipTextureDesc desc = texture_desc({});
        FAILS(hipCreateTextureObject(&texture, &resource, &desc, nullptr), hipErrorNotSupported);
        OK(hipFreeArray(there));
    }
}

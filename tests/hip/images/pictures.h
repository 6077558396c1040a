// SPDX-License-Identifier: MIT
// Shared by the tests of textures, surfaces and arrays: pictures, in memory and in plain C++, and
// the formulas of their samples (kernels/images.hip reads them on the device).
#pragma once
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/hipsim.h"
#include "hip/common.h"

// By asm names: in not all of the headers, or with other consts.
#define ASM_NAME(name, ...) extern "C" hipError_t other_##name(__VA_ARGS__) asm(#name)

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

namespace hip_test {

inline constexpr const char *targets[] = {"gfx1100", "gfx1151", "gfx1201"};

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

inline constexpr auto real = hipChannelFormatKindFloat;
inline constexpr auto whole = hipChannelFormatKindSigned, natural = hipChannelFormatKindUnsigned;
inline constexpr Format formats[] = {
    {1, 32, real},    {2, 32, real},   {4, 32, real},   {1, 16, real},    {4, 16, real},
    {1, 8, natural},  {4, 8, natural}, {2, 8, whole},   {1, 16, natural}, {2, 16, whole},
    {4, 16, natural}, {1, 32, whole},  {4, 32, natural}};

// Small multiples of 1/16, which f16 holds, too; integers of all values.
std::vector<unsigned char> random_texels(const Format &f, size_t count, std::mt19937 &random);

// A component as a register has it: a float, or an integer's bits.
float component(const Format &f, bool normalized, const unsigned char *texel, unsigned c);

// ---- the formula of a sample (S-082)

struct Sampling {
    hipTextureAddressMode mode = hipAddressModeClamp;
    hipTextureFilterMode filter = hipFilterModePoint;
    bool normalized_coordinates = false, normalized_values = false;
};

hipTextureDesc texture_desc(const Sampling &s);

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
                 unsigned c) const;
    const unsigned char *at_or(const long *p) const { return at(p[0], p[1], p[2]); }
};

Picture picture(const Format &f, size_t x, size_t y, size_t z, std::mt19937 &random);

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
                              std::mt19937 &random);

bool same(float got, float want, bool sum);

void compare(const Gpu &gpu, const char *kernel, const Picture &p, const hipResourceDesc &resource,
             const Sampling &s, unsigned dims, bool layered, std::mt19937 &random);

// All that a format allows.
std::vector<Sampling> samplings(const Format &f);

} // namespace hip_test

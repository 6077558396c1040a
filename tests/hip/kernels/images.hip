// SPDX-License-Identifier: MIT
// Kernels that read textures and surfaces, with HIP's own headers and host/sim/hiprtc/device/images.cpp.
#include <hip/hip_runtime.h>

#define KERNEL extern "C" __global__
typedef float4::Native_vec_ f4; // four components as they come, integers too

__device__ static int item() {
    return static_cast<int>(__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
                            __builtin_amdgcn_workitem_id_x());
}

// ---- HIP's templates

KERNEL void fetch(hipTextureObject_t t, float *out, int first, int n) {
    if (const int i = item(); i < n)
        out[i] = tex1Dfetch<float>(t, first + i);
}

KERNEL void tex_2d(hipTextureObject_t t, const float4 *at, float *out, int n) {
    if (const int i = item(); i < n)
        out[i] = tex2D<float>(t, at[i].x, at[i].y);
}

KERNEL void surface_2d(hipSurfaceObject_t from, hipSurfaceObject_t to, int width, int height) {
    const int i = item();
    if (i >= width * height)
        return;
    float value;
    surf2Dread(&value, from, (i % width) * 4, i / width);
    surf2Dwrite(value + 1, to, (i % width) * 4, height - 1 - i / width);
}

KERNEL void surface_1d(hipSurfaceObject_t s, int n) {
    float4 value;
    if (const int i = item(); i < n) {
        surf1Dread(&value, s, i * 16);
        value.x += value.w;
        surf1Dwrite(value, s, i * 16);
    }
}

KERNEL void surface_3d(hipSurfaceObject_t s, float *out, int width, int height, int depth) {
    const int i = item();
    if (i < width * height * depth)
        surf3Dread(&out[i], s, (i % width) * 4, i / width % height, i / width / height);
}

// ---- texture references

texture<float, hipTextureType1D, hipReadModeElementType> line_reference;
texture<float, hipTextureType2D, hipReadModeElementType> picture_reference;

KERNEL void fetch_reference(float *out, int first, int n) {
    if (const int i = item(); i < n)
        out[i] = tex1Dfetch(line_reference, first + i);
}

KERNEL void sample_reference(const float4 *at, float *out, int n) {
    if (const int i = item(); i < n)
        out[i] = tex2D(picture_reference, at[i].x, at[i].y);
}

// ---- intrinsics of the templates, with all components

extern "C" __device__ f4 __ockl_image_load_1Db(const unsigned ADDRESS_SPACE_CONSTANT *, int);

#define RAW unsigned ADDRESS_SPACE_CONSTANT *i = (unsigned ADDRESS_SPACE_CONSTANT *)t, *s = i + HIP_SAMPLER_OBJECT_OFFSET_DWORD
#define SAMPLER(name, call)                                                                        \
    KERNEL void name(hipTextureObject_t t, const float4 *at, f4 *out, int n) {                     \
        const int k = item();                                                                      \
        if (k >= n)                                                                                \
            return;                                                                                \
        RAW;                                                                                       \
        const f4 c = at[k].data;                                                                   \
        out[k] = call;                                                                             \
    }
SAMPLER(raw_fetch, __ockl_image_load_1Db(i, (int)c.x))
SAMPLER(sample_1D, __ockl_image_sample_1D(i, s, c.x))
SAMPLER(sample_2D, __ockl_image_sample_2D(i, s, c.xy))
SAMPLER(sample_3D, __ockl_image_sample_3D(i, s, c))
SAMPLER(sample_1Da, __ockl_image_sample_1Da(i, s, c.xy))
SAMPLER(sample_2Da, __ockl_image_sample_2Da(i, s, c))
SAMPLER(sample_lod_2D, __ockl_image_sample_lod_2D(i, s, c.xy, 0))
SAMPLER(sample_grad_2D, __ockl_image_sample_grad_2D(i, s, c.xy, c.zw, c.wz))
SAMPLER(gather_2D, __ockl_image_gather4g_2D(i, s, c.xy))

// Integer texels through a surface: the bits of each component are inverted.
KERNEL void invert(hipSurfaceObject_t t, int width, int height) {
    const int k = item();
    if (k >= width * height)
        return;
    RAW;
    (void)s;
    const int2 at(k % width, k / width);
    int4::Native_vec_ bits = __builtin_bit_cast(int4::Native_vec_, __ockl_image_load_2D(i, at.data));
    __ockl_image_store_2D(i, at.data, __builtin_bit_cast(f4, ~bits));
}

// Out of bounds: reads are 0, stores are dropped.
KERNEL void beyond(hipSurfaceObject_t t, float *out, int width, int height) {
    RAW;
    (void)s;
    const int x[] = {-1, width, 0, 0, 0x7fffffff}, y[] = {0, 0, -1, height, 0};
    const int k = item();
    if (k >= 5)
        return;
    out[k] = __ockl_image_load_2D(i, int2(x[k], y[k]).data).x;
    __ockl_image_store_2D(i, int2(x[k], y[k]).data, f4{9, 9, 9, 9});
}

// All work-items store different values to one texel.
KERNEL void race(hipSurfaceObject_t t) {
    RAW;
    (void)s;
    __ockl_image_store_2D(i, int2(1, 1).data, f4{(float)item()});
}

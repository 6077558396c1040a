// SPDX-License-Identifier: MIT
// Image functions by the names that HIP's texture and surface headers call. Compiled as HIP.
// A texture object is an image descriptor of 8 dwords, or a buffer descriptor of 4; HSA's numbers
// of channel type and order in dwords 8 and 9; and a sampler descriptor from dword 12 on.
#define __device__ __attribute__((device))

namespace {

typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i2 __attribute__((ext_vector_type(2)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef unsigned u4 __attribute__((ext_vector_type(4)));
typedef unsigned u8 __attribute__((ext_vector_type(8)));
typedef const unsigned __attribute__((address_space(4))) * Words;

enum { all = 15, red = 1, green = 2, blue = 4, alpha = 8 }; // masks of components

__device__ u8 image(Words i) { return *(const u8 __attribute__((address_space(4))) *)i; }
__device__ u4 four(Words i) { return *(const u4 __attribute__((address_space(4))) *)i; }

} // namespace

// clang-format off
extern "C" {
#define INTRINSIC(name) __asm("llvm.amdgcn." name)
__device__ f4 buffer_load(u4, int index, int offset, int soffset, int cache) INTRINSIC("struct.buffer.load.format.v4f32");
__device__ f4 load_1d(int mask, int x, u8, int, int) INTRINSIC("image.load.1d.v4f32.i32.v8i32");
__device__ f4 load_1da(int mask, int x, int layer, u8, int, int) INTRINSIC("image.load.1darray.v4f32.i32.v8i32");
__device__ f4 load_2d(int mask, int x, int y, u8, int, int) INTRINSIC("image.load.2d.v4f32.i32.v8i32");
__device__ f4 load_2da(int mask, int x, int y, int layer, u8, int, int) INTRINSIC("image.load.2darray.v4f32.i32.v8i32");
__device__ f4 load_3d(int mask, int x, int y, int z, u8, int, int) INTRINSIC("image.load.3d.v4f32.i32.v8i32");
__device__ void store_1d(f4, int mask, int x, u8, int, int) INTRINSIC("image.store.1d.v4f32.i32.v8i32");
__device__ void store_1da(f4, int mask, int x, int layer, u8, int, int) INTRINSIC("image.store.1darray.v4f32.i32.v8i32");
__device__ void store_2d(f4, int mask, int x, int y, u8, int, int) INTRINSIC("image.store.2d.v4f32.i32.v8i32");
__device__ void store_2da(f4, int mask, int x, int y, int layer, u8, int, int) INTRINSIC("image.store.2darray.v4f32.i32.v8i32");
__device__ void store_3d(f4, int mask, int x, int y, int z, u8, int, int) INTRINSIC("image.store.3d.v4f32.i32.v8i32");
__device__ f4 sample_1d(int mask, float x, u8, u4, bool unnormalized, int, int) INTRINSIC("image.sample.lz.1d.v4f32.f32.v8i32.v4i32");
__device__ f4 sample_1da(int mask, float x, float layer, u8, u4, bool, int, int) INTRINSIC("image.sample.lz.1darray.v4f32.f32.v8i32.v4i32");
__device__ f4 sample_2d(int mask, float x, float y, u8, u4, bool, int, int) INTRINSIC("image.sample.lz.2d.v4f32.f32.v8i32.v4i32");
__device__ f4 sample_2da(int mask, float x, float y, float layer, u8, u4, bool, int, int) INTRINSIC("image.sample.lz.2darray.v4f32.f32.v8i32.v4i32");
__device__ f4 sample_3d(int mask, float x, float y, float z, u8, u4, bool, int, int) INTRINSIC("image.sample.lz.3d.v4f32.f32.v8i32.v4i32");
__device__ f4 sample_l_1d(int mask, float x, float level, u8, u4, bool, int, int) INTRINSIC("image.sample.l.1d.v4f32.f32.v8i32.v4i32");
__device__ f4 sample_l_2d(int mask, float x, float y, float level, u8, u4, bool, int, int) INTRINSIC("image.sample.l.2d.v4f32.f32.v8i32.v4i32");
__device__ f4 sample_l_3d(int mask, float x, float y, float z, float level, u8, u4, bool, int, int) INTRINSIC("image.sample.l.3d.v4f32.f32.v8i32.v4i32");
__device__ f4 sample_d_1d(int mask, float dxh, float dxv, float x, u8, u4, bool, int, int) INTRINSIC("image.sample.d.1d.v4f32.f32.f32.v8i32.v4i32");
__device__ f4 sample_d_2d(int mask, float dxh, float dyh, float dxv, float dyv, float x, float y, u8, u4, bool, int, int) INTRINSIC("image.sample.d.2d.v4f32.f32.f32.v8i32.v4i32");
__device__ f4 sample_d_3d(int mask, float dxh, float dyh, float dzh, float dxv, float dyv, float dzv, float x, float y, float z, u8, u4, bool, int, int) INTRINSIC("image.sample.d.3d.v4f32.f32.f32.v8i32.v4i32");
__device__ f4 gather_2d(int mask, float x, float y, u8, u4, bool, int, int) INTRINSIC("image.gather4.lz.2d.v4f32.f32.v8i32.v4i32");

__device__ f4 __ockl_image_load_1Db(Words i, int c) { return buffer_load(four(i), c, 0, 0, 0); }
__device__ f4 __ockl_image_load_1D(Words i, int c) { return load_1d(all, c, image(i), 0, 0); }
__device__ f4 __ockl_image_load_1Da(Words i, i2 c) { return load_1da(all, c.x, c.y, image(i), 0, 0); }
__device__ f4 __ockl_image_load_2D(Words i, i2 c) { return load_2d(all, c.x, c.y, image(i), 0, 0); }
__device__ f4 __ockl_image_load_2Da(Words i, i4 c) { return load_2da(all, c.x, c.y, c.z, image(i), 0, 0); }
__device__ f4 __ockl_image_load_3D(Words i, i4 c) { return load_3d(all, c.x, c.y, c.z, image(i), 0, 0); }

__device__ void __ockl_image_store_1D(Words i, int c, f4 p) { store_1d(p, all, c, image(i), 0, 0); }
__device__ void __ockl_image_store_1Da(Words i, i2 c, f4 p) { store_1da(p, all, c.x, c.y, image(i), 0, 0); }
__device__ void __ockl_image_store_2D(Words i, i2 c, f4 p) { store_2d(p, all, c.x, c.y, image(i), 0, 0); }
__device__ void __ockl_image_store_2Da(Words i, i4 c, f4 p) { store_2da(p, all, c.x, c.y, c.z, image(i), 0, 0); }
__device__ void __ockl_image_store_3D(Words i, i4 c, f4 p) { store_3d(p, all, c.x, c.y, c.z, image(i), 0, 0); }

__device__ f4 __ockl_image_sample_1D(Words i, Words s, float c) { return sample_1d(all, c, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_sample_1Da(Words i, Words s, f2 c) { return sample_1da(all, c.x, c.y, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_sample_2D(Words i, Words s, f2 c) { return sample_2d(all, c.x, c.y, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_sample_2Da(Words i, Words s, f4 c) { return sample_2da(all, c.x, c.y, c.z, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_sample_3D(Words i, Words s, f4 c) { return sample_3d(all, c.x, c.y, c.z, image(i), four(s), false, 0, 0); }

__device__ f4 __ockl_image_sample_lod_1D(Words i, Words s, float c, float l) { return sample_l_1d(all, c, l, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_sample_lod_2D(Words i, Words s, f2 c, float l) { return sample_l_2d(all, c.x, c.y, l, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_sample_lod_3D(Words i, Words s, f4 c, float l) { return sample_l_3d(all, c.x, c.y, c.z, l, image(i), four(s), false, 0, 0); }

__device__ f4 __ockl_image_sample_grad_1D(Words i, Words s, float c, float h, float v) { return sample_d_1d(all, h, v, c, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_sample_grad_2D(Words i, Words s, f2 c, f2 h, f2 v) { return sample_d_2d(all, h.x, h.y, v.x, v.y, c.x, c.y, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_sample_grad_3D(Words i, Words s, f4 c, f4 h, f4 v) { return sample_d_3d(all, h.x, h.y, h.z, v.x, v.y, v.z, c.x, c.y, c.z, image(i), four(s), false, 0, 0); }

__device__ f4 __ockl_image_gather4r_2D(Words i, Words s, f2 c) { return gather_2d(red, c.x, c.y, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_gather4g_2D(Words i, Words s, f2 c) { return gather_2d(green, c.x, c.y, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_gather4b_2D(Words i, Words s, f2 c) { return gather_2d(blue, c.x, c.y, image(i), four(s), false, 0, 0); }
__device__ f4 __ockl_image_gather4a_2D(Words i, Words s, f2 c) { return gather_2d(alpha, c.x, c.y, image(i), four(s), false, 0, 0); }

#define CHANNELS(dim)                                                           \
    __device__ int __ockl_image_channel_data_type_##dim(Words i) { return i[8]; } \
    __device__ int __ockl_image_channel_order_##dim(Words i) { return i[9]; }
CHANNELS(1D)
CHANNELS(1Da)
CHANNELS(1Db)
CHANNELS(2D)
CHANNELS(2Da)
CHANNELS(3D)
}

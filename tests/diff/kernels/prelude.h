// SPDX-License-Identifier: MIT
// Included by every kernel of this folder. The same source is compiled for a GPU and for the
// host; below the types are the few things that differ: who am I, barriers, and reading other
// lanes.
//
//   KERNEL(name, inputs, block) { ITEM; ... out[i] = ...; }
//
// `inputs` (inputs.h: words, f32, f64, f16, bf16) says which hard values come first, `block` is the
// workgroup's size. Work-item i of n reads the words a, b, c, d (in[i], in[n + i], ...) and may
// write out[i], out[n + i], out[2n + i], out[3n + i]; SHARED words that start as zero follow them.
// Everything is compared bit for bit, so a kernel
//   - writes no NaN as it comes (operand order decides its payload): through word_*(), which has
//   one NaN;
//   - has no result that depends on the order of work-items;
//   - reads other lanes where all lanes of `members` come by.
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef short short2 __attribute__((ext_vector_type(2)));
typedef ushort ushort2 __attribute__((ext_vector_type(2)));
typedef int int2 __attribute__((ext_vector_type(2)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef int int8 __attribute__((ext_vector_type(8)));
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uint uint3 __attribute__((ext_vector_type(3)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef uchar uchar4 __attribute__((ext_vector_type(4)));
typedef signed char char4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float8 __attribute__((ext_vector_type(8)));
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef half half2 __attribute__((ext_vector_type(2)));
typedef half half8 __attribute__((ext_vector_type(8)));
typedef half half16 __attribute__((ext_vector_type(16)));

#ifdef __AMDGCN__
#define DEVICE 1
#define KERNEL(name, inputs, block)                                                                \
    kernel __attribute__((reqd_work_group_size(block, 1, 1))) void name(global const uint *in,     \
                                                                        global uint *out, uint n)
#else
#define DEVICE 0
#define KERNEL(name, inputs, block)                                                                \
    kernel void host_##name(global const uint *in, global uint *out, uint n)
#endif
// Results within `ulps` units in the last place of a float, for the reason given.
#define KERNEL_NEAR(name, inputs, block, ulps, why) KERNEL(name, inputs, block)
#define SHARED 1024
#define NOINLINE __attribute__((noinline)) static
#define INLINE static inline
#define ITEM                                                                                       \
    const uint i = group_id() * group_size() + local_id();                                         \
    const uint a = in[i], b = in[n + i], c = in[2 * n + i], d = in[3 * n + i];                     \
    (void)a, (void)b, (void)c, (void)d

#if DEVICE
#define group_id() __builtin_amdgcn_workgroup_id_x()
#define local_id() __builtin_amdgcn_workitem_id_x()
#define group_size() ((uint)__builtin_amdgcn_workgroup_size_x())
#define EVERYONE (~0ul)

INLINE void barrier(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Bit `lane` is set where that lane's `truth` is.
INLINE ulong ballot(ulong members, int truth) {
#if WAVE == 32
    return __builtin_amdgcn_ballot_w32(truth != 0);
#else
    return __builtin_amdgcn_ballot_w64(truth != 0);
#endif
}
INLINE uint lane_id(void) {
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
// The value of lane `lane` of the same 32 lanes: what ds_bpermute_b32 reaches on every target.
INLINE uint shuffle(ulong members, uint value, uint lane) {
    return __builtin_amdgcn_ds_bpermute((int)((lane_id() & 32) | (lane & 31)) << 2, (int)value);
}
// The value of a lane that is the same for all.
INLINE uint read_lane(ulong members, uint value, uint lane) {
    return __builtin_amdgcn_readlane(value, lane);
}
#else
uint host_group_id(void);
uint host_local_id(void);
uint host_group_size(void);
uint host_wave_size(void);
void host_barrier(void);
ulong host_everyone(void);                            // the work-items of this wave, as bits
const uint *host_exchange(ulong members, uint value); // value of each lane of the wave
#define WAVE host_wave_size()
#define group_id() host_group_id()
#define local_id() host_local_id()
#define group_size() host_group_size()
#define barrier() host_barrier()
#define EVERYONE host_everyone()

INLINE ulong ballot(ulong members, int truth) {
    const uint *values = host_exchange(members, truth != 0);
    ulong mask = 0;
    for (uint lane = 0; lane < WAVE; ++lane)
        mask |= (members >> lane & 1 && values[lane] ? 1ul : 0ul) << lane;
    return mask;
}
INLINE uint lane_id(void) { return local_id() % WAVE; }
INLINE uint shuffle(ulong members, uint value, uint lane) {
    return host_exchange(members, value)[(lane_id() & 32) | (lane & 31)];
}
INLINE uint read_lane(ulong members, uint value, uint lane) {
    return host_exchange(members, value)[lane];
}
#endif

// ---- bits and values
#define as(type, x) __builtin_astype(x, type)
INLINE float f32(uint word) { return as(float, word); }
INLINE double f64(uint low, uint high) { return as(double, (ulong)high << 32 | low); }
INLINE ulong u64(uint low, uint high) { return (ulong)high << 32 | low; }
INLINE half f16(uint word) { return as(half, (ushort)word); }
INLINE half2 f16x2(uint word) { return as(half2, word); }
INLINE __bf16 bf16(uint word) { return as(__bf16, (ushort)word); }
INLINE float bf16_wide(uint word) { return as(float, word << 16); }

INLINE uint word_f32(float x) { return x != x ? 0x7fc00000u : as(uint, x); }
INLINE uint word_f16(half x) { return x != x ? 0x7e00u : as(ushort, x); }
INLINE uint word_f16x2(half2 x) { return word_f16(x.x) | word_f16(x.y) << 16; }
INLINE uint word_bf16(__bf16 x) { return (float)x != (float)x ? 0x7fc0u : as(ushort, x); }
INLINE ulong word_f64(double x) { return x != x ? 0x7ff8000000000000ul : as(ulong, x); }
#define PUT64(plane, value) put64(out, n, i, plane, value)
INLINE void put64(global uint *out, uint n, uint i, uint plane, ulong value) {
    out[plane * n + i] = (uint)value;
    out[(plane + 1) * n + i] = (uint)(value >> 32);
}

// ---- float functions that are exactly defined; the host's come from its C library
#define fma32(x, y, z) __builtin_fmaf(x, y, z)
#define fma64(x, y, z) __builtin_fma(x, y, z)
#define elementwise(name) __builtin_elementwise_##name
#if DEVICE
#define fma16(x, y, z) __builtin_elementwise_fma(x, y, z)
#else // x86 has no f16 fma: LLVM would round twice
ushort host_fma16(ushort x, ushort y, ushort z);
INLINE half fma16(half x, half y, half z) {
    return as(half, host_fma16(as(ushort, x), as(ushort, y), as(ushort, z)));
}
#endif

// ---- atomics on global memory: relaxed (0), for the whole device (2)
#define atomic(operation, pointer, value) __opencl_atomic_##operation(pointer, value, 0, 2)

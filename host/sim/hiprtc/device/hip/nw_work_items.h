// SPDX-License-Identifier: MIT
// threadIdx and its kind, barriers, clocks, and what lanes of a wave tell each other.
#pragma once

// ---- places in the grid

struct __nw_thread_idx {
    __declspec(property(get = get_x)) unsigned x;
    __declspec(property(get = get_y)) unsigned y;
    __declspec(property(get = get_z)) unsigned z;
    __device__ unsigned get_x() const { return __builtin_amdgcn_workitem_id_x(); }
    __device__ unsigned get_y() const { return __builtin_amdgcn_workitem_id_y(); }
    __device__ unsigned get_z() const { return __builtin_amdgcn_workitem_id_z(); }
    __device__ operator dim3() const { return {get_x(), get_y(), get_z()}; }
};
struct __nw_block_idx {
    __declspec(property(get = get_x)) unsigned x;
    __declspec(property(get = get_y)) unsigned y;
    __declspec(property(get = get_z)) unsigned z;
    __device__ unsigned get_x() const { return __builtin_amdgcn_workgroup_id_x(); }
    __device__ unsigned get_y() const { return __builtin_amdgcn_workgroup_id_y(); }
    __device__ unsigned get_z() const { return __builtin_amdgcn_workgroup_id_z(); }
    __device__ operator dim3() const { return {get_x(), get_y(), get_z()}; }
};
struct __nw_block_dim {
    __declspec(property(get = get_x)) unsigned x;
    __declspec(property(get = get_y)) unsigned y;
    __declspec(property(get = get_z)) unsigned z;
    __device__ unsigned get_x() const { return __builtin_amdgcn_workgroup_size_x(); }
    __device__ unsigned get_y() const { return __builtin_amdgcn_workgroup_size_y(); }
    __device__ unsigned get_z() const { return __builtin_amdgcn_workgroup_size_z(); }
    __device__ operator dim3() const { return {get_x(), get_y(), get_z()}; }
};
struct __nw_grid_dim { // the first implicit arguments
    __declspec(property(get = get_x)) unsigned x;
    __declspec(property(get = get_y)) unsigned y;
    __declspec(property(get = get_z)) unsigned z;
    __device__ static unsigned at(unsigned n) {
        using Words = const __attribute__((address_space(4))) unsigned *;
        return reinterpret_cast<Words>(
            reinterpret_cast<unsigned long>(__builtin_amdgcn_implicitarg_ptr()))[n];
    }
    __device__ unsigned get_x() const { return at(0); }
    __device__ unsigned get_y() const { return at(1); }
    __device__ unsigned get_z() const { return at(2); }
    __device__ operator dim3() const { return {get_x(), get_y(), get_z()}; }
};
extern const __device__ __attribute__((weak)) __nw_thread_idx threadIdx;
extern const __device__ __attribute__((weak)) __nw_block_idx blockIdx;
extern const __device__ __attribute__((weak)) __nw_block_dim blockDim;
extern const __device__ __attribute__((weak)) __nw_grid_dim gridDim;

// ---- barriers, fences, clocks

__device__ __forceinline__ void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
__device__ __forceinline__ void __threadfence() {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
__device__ __forceinline__ void __threadfence_block() {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
__device__ __forceinline__ void __threadfence_system() {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}
__device__ __forceinline__ void __syncwarp() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
__device__ __forceinline__ int __syncthreads_count(int predicate) {
    __shared__ int count;
    __syncthreads();
    if (!(threadIdx.x | threadIdx.y | threadIdx.z))
        count = 0;
    __syncthreads();
    if (predicate)
        atomicAdd(&count, 1);
    __syncthreads();
    return count;
}
__device__ __forceinline__ int __syncthreads_or(int predicate) {
    return __syncthreads_count(predicate) != 0;
}
__device__ __forceinline__ int __syncthreads_and(int predicate) {
    return __syncthreads_count(!predicate) == 0;
}
__device__ __forceinline__ long long clock64() { return __builtin_readcyclecounter(); }
__device__ __forceinline__ long long clock() { return clock64(); }
__device__ __forceinline__ long long wall_clock64() { return __builtin_readsteadycounter(); }

// ---- votes and shuffles

__device__ __forceinline__ unsigned __lane_id() {
    return warpSize == 32 ? __builtin_amdgcn_mbcnt_lo(~0u, 0)
                          : __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
__device__ __forceinline__ unsigned long long __ballot(int predicate) {
#if __has_builtin(__builtin_amdgcn_ballot_w32)
    if constexpr (warpSize == 32)
        return __builtin_amdgcn_ballot_w32(predicate != 0);
#endif
    return __builtin_amdgcn_ballot_w64(predicate != 0);
}
__device__ __forceinline__ unsigned long long __activemask() { return __ballot(1); }
__device__ __forceinline__ int __any(int predicate) { return __ballot(predicate) != 0; }
__device__ __forceinline__ int __all(int predicate) { return __ballot(!predicate) == 0; }

// Any type of whole dwords.
template <class T> __device__ __forceinline__ T __nw_from_lane(T value, int lane) {
    constexpr unsigned count = (sizeof(T) + 3) / 4;
    int words[count] = {};
    __builtin_memcpy(words, &value, sizeof value);
    for (unsigned n = 0; n < count; ++n)
        words[n] = __builtin_amdgcn_ds_bpermute(lane << 2, words[n]);
    __builtin_memcpy(&value, words, sizeof value);
    return value;
}
template <class T> __device__ __forceinline__ T __shfl(T value, int from, int width = warpSize) {
    const int self = __lane_id();
    return __nw_from_lane(value, (from & (width - 1)) + (self & ~(width - 1)));
}
template <class T>
__device__ __forceinline__ T __shfl_up(T value, unsigned by, int width = warpSize) {
    const int self = __lane_id(), from = self - static_cast<int>(by);
    return __nw_from_lane(value, from < (self & ~(width - 1)) ? self : from);
}
template <class T>
__device__ __forceinline__ T __shfl_down(T value, unsigned by, int width = warpSize) {
    const int self = __lane_id(), from = self + static_cast<int>(by);
    return __nw_from_lane(value,
                          static_cast<int>((self & (width - 1)) + by) >= width ? self : from);
}
template <class T>
__device__ __forceinline__ T __shfl_xor(T value, int mask, int width = warpSize) {
    const int self = __lane_id(), from = self ^ mask;
    return __nw_from_lane(value, from >= ((self + width) & ~(width - 1)) ? self : from);
}
template <class M, class T>
__device__ __forceinline__ T __shfl_sync(M, T v, int from, int width = warpSize) {
    return __shfl(v, from, width);
}
template <class M, class T>
__device__ __forceinline__ T __shfl_up_sync(M, T v, unsigned by, int width = warpSize) {
    return __shfl_up(v, by, width);
}
template <class M, class T>
__device__ __forceinline__ T __shfl_down_sync(M, T v, unsigned by, int width = warpSize) {
    return __shfl_down(v, by, width);
}
template <class M, class T>
__device__ __forceinline__ T __shfl_xor_sync(M, T v, int mask, int width = warpSize) {
    return __shfl_xor(v, mask, width);
}

// ---- bits

__device__ __forceinline__ int __popc(unsigned x) { return __builtin_popcount(x); }
__device__ __forceinline__ int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__device__ __forceinline__ int __clz(int x) { return x ? __builtin_clz(x) : 32; }
__device__ __forceinline__ int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
__device__ __forceinline__ int __ffs(int x) { return __builtin_ffs(x); }
__device__ __forceinline__ int __ffsll(long long x) { return __builtin_ffsll(x); }
__device__ __forceinline__ unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
__device__ __forceinline__ unsigned long long __brevll(unsigned long long x) {
    return __builtin_bitreverse64(x);
}
__device__ __forceinline__ int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
__device__ __forceinline__ unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned long long>(a) * b >> 32;
}
__device__ __forceinline__ int __mulhi(int a, int b) { return static_cast<long long>(a) * b >> 32; }
__device__ __forceinline__ unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
    unsigned selected = 0;
    for (int n = 0; n < 4; ++n) {
        const unsigned byte = s >> 4 * n & 7;
        selected |= ((byte < 4 ? a >> 8 * byte : b >> 8 * (byte - 4)) & 0xff) << 8 * n;
    }
    return selected;
}
__device__ __forceinline__ int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__device__ __forceinline__ unsigned __float_as_uint(float x) {
    return __builtin_bit_cast(unsigned, x);
}
__device__ __forceinline__ float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__device__ __forceinline__ float __uint_as_float(unsigned x) {
    return __builtin_bit_cast(float, x);
}
__device__ __forceinline__ long long __double_as_longlong(double x) {
    return __builtin_bit_cast(long long, x);
}
__device__ __forceinline__ double __longlong_as_double(long long x) {
    return __builtin_bit_cast(double, x);
}
template <class T> __device__ __forceinline__ T __ldg(const T *at) { return *at; }

// SPDX-License-Identifier: MIT
// Atomic operations, relaxed, for the device; _block for the workgroup, _system for all.
#pragma once

#define __NW_ATOMIC(name, builtin)                                                                 \
    template <class T, class V> __device__ __forceinline__ T name(T *at, V value) {                \
        return builtin(at, static_cast<T>(value), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);     \
    }                                                                                              \
    template <class T, class V> __device__ __forceinline__ T name##_block(T *at, V value) {        \
        return builtin(at, static_cast<T>(value), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP); \
    }                                                                                              \
    template <class T, class V> __device__ __forceinline__ T name##_system(T *at, V value) {       \
        return builtin(at, static_cast<T>(value), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);    \
    }
__NW_ATOMIC(atomicAdd, __hip_atomic_fetch_add)
__NW_ATOMIC(atomicMin, __hip_atomic_fetch_min)
__NW_ATOMIC(atomicMax, __hip_atomic_fetch_max)
__NW_ATOMIC(atomicAnd, __hip_atomic_fetch_and)
__NW_ATOMIC(atomicOr, __hip_atomic_fetch_or)
__NW_ATOMIC(atomicXor, __hip_atomic_fetch_xor)
__NW_ATOMIC(atomicExch, __hip_atomic_exchange)
#undef __NW_ATOMIC

template <class T, class V> __device__ __forceinline__ T atomicSub(T *at, V value) {
    return atomicAdd(at, -static_cast<T>(value));
}
template <class T, class C, class V>
__device__ __forceinline__ T atomicCAS(T *at, C compare, V value) {
    T expected = static_cast<T>(compare);
    __hip_atomic_compare_exchange_strong(at, &expected, static_cast<T>(value), __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    return expected;
}
__device__ __forceinline__ unsigned atomicInc(unsigned *at, unsigned most) {
    return __builtin_amdgcn_atomic_inc32(at, most, __ATOMIC_RELAXED, "agent");
}
__device__ __forceinline__ unsigned atomicDec(unsigned *at, unsigned most) {
    return __builtin_amdgcn_atomic_dec32(at, most, __ATOMIC_RELAXED, "agent");
}

// SPDX-License-Identifier: MIT
// Device library for programs of hiprtc without ROCm's headers. Included before its source, unless
// an -I of the program has HIP's own.
#pragma once
#define HIP_INCLUDE_HIP_HIP_RUNTIME_H
#ifndef HIP_VERSION_MAJOR
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 60200000
#endif
#include <__clang_hip_runtime_wrapper.h>
#include <stddef.h>
#include <stdint.h>

#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds_select(_1, _2, name, ...) name
#define __launch_bounds_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define __launch_bounds_2(threads, waves)                                                          \
    __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define __launch_bounds__(...)                                                                     \
    __launch_bounds_select(__VA_ARGS__, __launch_bounds_2, __launch_bounds_1)(__VA_ARGS__)
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
static constexpr int warpSize = __AMDGCN_WAVEFRONT_SIZE__; // hiprtc defines it

#include <hip/nw_atomics.h>
#include <hip/nw_vectors.h>
#include <hip/nw_work_items.h>

// ---- printf and assert: clang turns a call of printf into hostcalls

extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ unsigned long long __ockl_fprintf_stderr_begin();
extern "C" __device__ unsigned long long
__ockl_fprintf_append_args(unsigned long long message, unsigned count, unsigned long long a,
                           unsigned long long b, unsigned long long c, unsigned long long d,
                           unsigned long long e, unsigned long long f, unsigned long long g,
                           unsigned last);
extern "C" __device__ unsigned long long __ockl_fprintf_append_string_n(unsigned long long message,
                                                                        const char *text,
                                                                        unsigned long long bytes,
                                                                        unsigned last);

extern "C" __device__ inline __attribute__((weak)) void
__assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
    const auto size = [](const char *text) {
        unsigned long long bytes = 1;
        while (text[bytes - 1])
            ++bytes;
        return bytes;
    };
    const char *const format = "%s:%u: %s: Device-side assertion `%s' failed.\n";
    auto message = __ockl_fprintf_stderr_begin();
    message = __ockl_fprintf_append_string_n(message, format, size(format), 0);
    message = __ockl_fprintf_append_string_n(message, file, size(file), 0);
    message = __ockl_fprintf_append_args(message, 1, line, 0, 0, 0, 0, 0, 0, 0);
    message = __ockl_fprintf_append_string_n(message, function, size(function), 0);
    __ockl_fprintf_append_string_n(message, assertion, size(assertion), 1);
    __builtin_trap();
}
#ifndef assert
#ifdef NDEBUG
#define assert(condition) static_cast<void>(0)
#else
#define assert(condition)                                                                          \
    (__builtin_expect(!(condition), 0)                                                             \
         ? __assert_fail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__)                      \
         : static_cast<void>(0))
#endif
#endif
extern "C" __device__ inline __attribute__((weak)) void abort() { __builtin_trap(); }

__device__ inline void *operator new(size_t, void *at) noexcept { return at; }
__device__ inline void *operator new[](size_t, void *at) noexcept { return at; }
__device__ inline void *operator new(size_t bytes) { return malloc(bytes); }
__device__ inline void *operator new[](size_t bytes) { return malloc(bytes); }
__device__ inline void operator delete(void *at) noexcept { free(at); }
__device__ inline void operator delete[](void *at) noexcept { free(at); }
__device__ inline void operator delete(void *at, size_t) noexcept { free(at); }
__device__ inline void operator delete[](void *at, size_t) noexcept { free(at); }

#include <hip/hip_fp16.h> // which hiprtc's programs have without asking

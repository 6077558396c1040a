// SPDX-License-Identifier: MIT
// __half, __half_raw and __half2 over clang's _Float16.
#pragma once
#include <hip/hip_runtime.h>

struct __half_raw {
    union {
        _Float16 data;
        unsigned short x;
    };
};

// A class, as HIP's is: from any number, to any number. A product with a float needs a cast of one
// of the two.
struct __half {
    __half() = default;
    __device__ __half(const __half_raw &x) : data(x.data) {}
    template <class T, class = decltype(static_cast<_Float16>(T()))>
    __device__ __half(T x) : data(static_cast<_Float16>(x)) {}

    __device__ operator __half_raw() const { return {{data}}; }
    __device__ operator float() const { return data; }
    __device__ explicit operator _Float16() const { return data; }

    __device__ __half operator+() const { return *this; }
    __device__ __half operator-() const { return -data; }
    __device__ __half &operator+=(__half x) { return *this = data + x.data; }
    __device__ __half &operator-=(__half x) { return *this = data - x.data; }
    __device__ __half &operator*=(__half x) { return *this = data * x.data; }
    __device__ __half &operator/=(__half x) { return *this = data / x.data; }

    _Float16 data;
};
using half = __half;

__device__ __forceinline__ __half operator+(__half a, __half b) { return a.data + b.data; }
__device__ __forceinline__ __half operator-(__half a, __half b) { return a.data - b.data; }
__device__ __forceinline__ __half operator*(__half a, __half b) { return a.data * b.data; }
__device__ __forceinline__ __half operator/(__half a, __half b) { return a.data / b.data; }
__device__ __forceinline__ bool operator==(__half a, __half b) { return a.data == b.data; }
__device__ __forceinline__ bool operator!=(__half a, __half b) { return a.data != b.data; }
__device__ __forceinline__ bool operator<(__half a, __half b) { return a.data < b.data; }
__device__ __forceinline__ bool operator>(__half a, __half b) { return a.data > b.data; }
__device__ __forceinline__ bool operator<=(__half a, __half b) { return a.data <= b.data; }
__device__ __forceinline__ bool operator>=(__half a, __half b) { return a.data >= b.data; }

struct alignas(4) __half2 {
    __half x, y;
};
using half2 = __half2;

__device__ __forceinline__ __half __float2half(float x) { return static_cast<__half>(x); }
__device__ __forceinline__ __half __float2half_rn(float x) { return static_cast<__half>(x); }
__device__ __forceinline__ float __half2float(__half x) { return x.data; }
__device__ __forceinline__ __half __int2half_rn(int x) { return static_cast<__half>(x); }
__device__ __forceinline__ int __half2int_rz(__half x) { return static_cast<int>(x.data); }
__device__ __forceinline__ __half __ushort_as_half(unsigned short x) {
    return __builtin_bit_cast(__half, x);
}
__device__ __forceinline__ unsigned short __half_as_ushort(__half x) {
    return __builtin_bit_cast(unsigned short, x);
}
__device__ __forceinline__ __half2 __floats2half2_rn(float x, float y) {
    return {static_cast<__half>(x), static_cast<__half>(y)};
}
__device__ __forceinline__ __half2 __halves2half2(__half x, __half y) { return {x, y}; }
__device__ __forceinline__ __half2 __float2half2_rn(float x) { return __floats2half2_rn(x, x); }
__device__ __forceinline__ __half2 __half2half2(__half x) { return {x, x}; }
__device__ __forceinline__ float2 __half22float2(__half2 x) { return {x.x.data, x.y.data}; }
__device__ __forceinline__ __half __low2half(__half2 x) { return x.x; }
__device__ __forceinline__ __half __high2half(__half2 x) { return x.y; }
__device__ __forceinline__ float __low2float(__half2 x) { return x.x; }
__device__ __forceinline__ float __high2float(__half2 x) { return x.y; }

__device__ __forceinline__ __half __hadd(__half a, __half b) { return a + b; }
__device__ __forceinline__ __half __hsub(__half a, __half b) { return a - b; }
__device__ __forceinline__ __half __hmul(__half a, __half b) { return a * b; }
__device__ __forceinline__ __half __hdiv(__half a, __half b) { return a / b; }
__device__ __forceinline__ __half __hneg(__half a) { return -a; }
__device__ __forceinline__ __half __hfma(__half a, __half b, __half c) {
    return __builtin_fmaf16(a.data, b.data, c.data);
}
__device__ __forceinline__ bool __heq(__half a, __half b) { return a == b; }
__device__ __forceinline__ bool __hlt(__half a, __half b) { return a < b; }
__device__ __forceinline__ bool __hgt(__half a, __half b) { return a > b; }
__device__ __forceinline__ bool __hisnan(__half a) { return a != a; }
__device__ __forceinline__ __half2 __hadd2(__half2 a, __half2 b) { return {a.x + b.x, a.y + b.y}; }
__device__ __forceinline__ __half2 __hsub2(__half2 a, __half2 b) { return {a.x - b.x, a.y - b.y}; }
__device__ __forceinline__ __half2 __hmul2(__half2 a, __half2 b) { return {a.x * b.x, a.y * b.y}; }
__device__ __forceinline__ __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
__device__ __forceinline__ __half hsqrt(__half x) { return __builtin_sqrtf16(x.data); }
__device__ __forceinline__ __half hexp(__half x) { return static_cast<__half>(expf(x)); }
__device__ __forceinline__ __half hlog(__half x) { return static_cast<__half>(logf(x)); }
__device__ __forceinline__ __half hsin(__half x) { return static_cast<__half>(sinf(x)); }
__device__ __forceinline__ __half hcos(__half x) { return static_cast<__half>(cosf(x)); }
__device__ __forceinline__ __half hrcp(__half x) {
    return static_cast<__half>(1 / static_cast<float>(x));
}

// SPDX-License-Identifier: MIT
// The math functions that clang's HIP headers call, by the names of ROCm's library; used where that
// library isn't installed. An f32 result is the rounded double.
#define __device__ __attribute__((device))
#define PRIVATE __attribute__((address_space(5)))

#include "math.h"

#define EXPORT extern "C" __device__ __attribute__((const))
#define UNARY(name)                                                                                \
    EXPORT double __ocml_##name##_f64(double x) { return name(x); }                                \
    EXPORT float __ocml_##name##_f32(float x) { return static_cast<float>(name(f64{x})); }
#define BINARY(name)                                                                               \
    EXPORT double __ocml_##name##_f64(double x, double y) { return name(x, y); }                   \
    EXPORT float __ocml_##name##_f32(float x, float y) {                                           \
        return static_cast<float>(name(f64{x}, f64{y}));                                           \
    }

UNARY(exp)
UNARY(exp2)
UNARY(exp10)
UNARY(expm1)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
UNARY(sin)
UNARY(cos)
UNARY(tan)
UNARY(sinpi)
UNARY(cospi)
UNARY(asin)
UNARY(acos)
UNARY(atan)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)
UNARY(rsqrt)
UNARY(cbrt)
UNARY(rcbrt)
UNARY(erf)
UNARY(erfc)
UNARY(lgamma)
UNARY(tgamma)
BINARY(pow)
BINARY(atan2)
BINARY(hypot)
BINARY(fmod)
BINARY(remainder)
BINARY(fdim)

EXPORT double __ocml_nextafter_f64(double x, double y) { return nextafter<double, u64>(x, y); }
EXPORT float __ocml_nextafter_f32(float x, float y) { return nextafter<float, unsigned>(x, y); }
EXPORT int __ocml_ilogb_f64(double x) { return ilogb(x); }
EXPORT int __ocml_ilogb_f32(float x) { return ilogb(f64{x}); }
EXPORT double __ocml_pown_f64(double x, int n) { return pow(x, n); }
EXPORT float __ocml_pown_f32(float x, int n) { return static_cast<float>(pow(f64{x}, n)); }
EXPORT float __ocml_native_sin_f32(float x) {
    return __builtin_amdgcn_sinf(x * static_cast<float>(0.5 / pi));
}
EXPORT float __ocml_native_cos_f32(float x) {
    return __builtin_amdgcn_cosf(x * static_cast<float>(0.5 / pi));
}
EXPORT float __ocml_native_sqrt_f32(float x) { return __builtin_amdgcn_sqrtf(x); }

extern "C" __device__ double __ocml_sincos_f64(double x, PRIVATE double *cosine) {
    *cosine = cos(x);
    return sin(x);
}
extern "C" __device__ float __ocml_sincos_f32(float x, PRIVATE float *cosine) {
    *cosine = static_cast<float>(cos(f64{x}));
    return static_cast<float>(sin(f64{x}));
}
extern "C" __device__ double __ocml_sincospi_f64(double x, PRIVATE double *cosine) {
    *cosine = cospi(x);
    return sinpi(x);
}
extern "C" __device__ float __ocml_sincospi_f32(float x, PRIVATE float *cosine) {
    *cosine = static_cast<float>(cospi(f64{x}));
    return static_cast<float>(sinpi(f64{x}));
}
extern "C" __device__ double __ocml_modf_f64(double x, PRIVATE double *whole) {
    *whole = __builtin_trunc(x);
    return with_sign(abs(x) == infinity ? 0 : x - *whole, x);
}
extern "C" __device__ float __ocml_modf_f32(float x, PRIVATE float *whole) {
    *whole = __builtin_truncf(x);
    return static_cast<float>(with_sign(abs(f64{x}) == infinity ? 0 : f64{x} - *whole, x));
}

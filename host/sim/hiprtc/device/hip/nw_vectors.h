// SPDX-License-Identifier: MIT
// dim3, and the short vectors of CUDA: int4, float2, ...
#pragma once

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
        : x(x), y(y), z(z) {}
};

// Aligned to the vector's size, vectors of three elements to one element.
#define __NW_VECTORS(T, name)                                                                      \
    struct name##1 {                                                                               \
        T x;                                                                                       \
    };                                                                                             \
    struct alignas(2 * sizeof(T)) name##2 {                                                        \
        T x, y;                                                                                    \
    };                                                                                             \
    struct name##3 {                                                                               \
        T x, y, z;                                                                                 \
    };                                                                                             \
    struct alignas(sizeof(T) > 4 ? 16 : 4 * sizeof(T)) name##4 {                                   \
        T x, y, z, w;                                                                              \
    };                                                                                             \
    __host__ __device__ constexpr name##1 make_##name##1(T x) { return {x}; }                      \
    __host__ __device__ constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }              \
    __host__ __device__ constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }      \
    __host__ __device__ constexpr name##4 make_##name##4(T x, T y, T z, T w) {                     \
        return {x, y, z, w};                                                                       \
    }                                                                                              \
    __NW_OPERATOR(name, +)                                                                         \
    __NW_OPERATOR(name, -)                                                                         \
    __NW_OPERATOR(name, *)                                                                         \
    __NW_OPERATOR(name, /)
#define __NW_OPERATOR(name, op)                                                                    \
    __host__ __device__ constexpr name##2 operator op(name##2 a, name##2 b) {                      \
        return make_##name##2(a.x op b.x, a.y op b.y);                                             \
    }                                                                                              \
    __host__ __device__ constexpr name##3 operator op(name##3 a, name##3 b) {                      \
        return make_##name##3(a.x op b.x, a.y op b.y, a.z op b.z);                                 \
    }                                                                                              \
    __host__ __device__ constexpr name##4 operator op(name##4 a, name##4 b) {                      \
        return make_##name##4(a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w);                     \
    }
__NW_VECTORS(signed char, char)
__NW_VECTORS(unsigned char, uchar)
__NW_VECTORS(short, short)
__NW_VECTORS(unsigned short, ushort)
__NW_VECTORS(int, int)
__NW_VECTORS(unsigned, uint)
__NW_VECTORS(long, long)
__NW_VECTORS(unsigned long, ulong)
__NW_VECTORS(long long, longlong)
__NW_VECTORS(unsigned long long, ulonglong)
__NW_VECTORS(float, float)
__NW_VECTORS(double, double)
#undef __NW_VECTORS
#undef __NW_OPERATOR

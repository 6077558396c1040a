// SPDX-License-Identifier: MIT
// OpenCL C's functions for kernels that are compiled without ROCm's device libraries: work-items, barriers, 32-bit atomics,
// loads and stores of vectors, conversions, and the math that LLVM has intrinsics for. clang's opencl-c.h declares them.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define OVER __attribute__((overloadable))

#define BY_DIMENSION(d, x, y, z, other) ((d) == 0 ? (x) : (d) == 1 ? (y) : (d) == 2 ? (z) : (other))
OVER size_t get_local_id(uint d) {
    return BY_DIMENSION(d, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z(), 0);
}
OVER size_t get_group_id(uint d) {
    return BY_DIMENSION(d, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z(), 0);
}
OVER size_t get_local_size(uint d) {
    return BY_DIMENSION(d, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z(), 1);
}
OVER size_t get_enqueued_local_size(uint d) { return get_local_size(d); } // HIP's workgroups are all full
OVER size_t get_num_groups(uint d) { // the hidden arguments begin with these
    return d < 3 ? ((const __constant uint *)__builtin_amdgcn_implicitarg_ptr())[d] : 1;
}
OVER size_t get_global_offset(uint d) { return 0; }
OVER size_t get_global_id(uint d) { return get_group_id(d) * get_local_size(d) + get_local_id(d); }
OVER size_t get_global_size(uint d) { return get_num_groups(d) * get_local_size(d); }
OVER size_t get_local_linear_id(void) {
    return (get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0);
}
OVER size_t get_global_linear_id(void) {
    return (get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0);
}
OVER uint get_work_dim(void) { return get_num_groups(2) * get_local_size(2) > 1 ? 3 : get_num_groups(1) * get_local_size(1) > 1 ? 2 : 1; }

OVER void mem_fence(cl_mem_fence_flags flags) { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup"); }
OVER void read_mem_fence(cl_mem_fence_flags flags) { __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); }
OVER void write_mem_fence(cl_mem_fence_flags flags) { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); }
OVER void work_group_barrier(cl_mem_fence_flags flags) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
OVER void barrier(cl_mem_fence_flags flags) { work_group_barrier(flags); }

// ---- atomics ----
#define ATOMIC(name, builtin, space, type)                                                          \
    OVER type atomic_##name(volatile space type *p, type value) {                                   \
        return __scoped_atomic_##builtin(p, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);        \
    }
#define ATOMICS(space, type)                                                                        \
    ATOMIC(add, fetch_add, space, type)                                                             \
    ATOMIC(sub, fetch_sub, space, type)                                                             \
    ATOMIC(min, fetch_min, space, type)                                                             \
    ATOMIC(max, fetch_max, space, type)                                                             \
    ATOMIC(and, fetch_and, space, type)                                                             \
    ATOMIC(or, fetch_or, space, type)                                                               \
    ATOMIC(xor, fetch_xor, space, type)                                                             \
    ATOMIC(xchg, exchange_n, space, type)                                                           \
    OVER type atomic_inc(volatile space type *p) { return atomic_add(p, (type)1); }                 \
    OVER type atomic_dec(volatile space type *p) { return atomic_sub(p, (type)1); }                 \
    OVER type atomic_cmpxchg(volatile space type *p, type old, type value) {                        \
        __scoped_atomic_compare_exchange_n(p, &old, value, false, __ATOMIC_RELAXED,                 \
                                           __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);                \
        return old;                                                                                 \
    }
ATOMICS(__global, int)
ATOMICS(__global, uint)
ATOMICS(__local, int)
ATOMICS(__local, uint)

// ---- math, of scalars and vectors ----
#define UNARY(type, name, builtin) OVER type name(type x) { return builtin(x); }
#define FLOATS(type)                                                                                \
    UNARY(type, ceil, __builtin_elementwise_ceil)                                                   \
    UNARY(type, exp, __builtin_elementwise_exp)                                                     \
    UNARY(type, exp2, __builtin_elementwise_exp2)                                                   \
    UNARY(type, fabs, __builtin_elementwise_abs)                                                    \
    UNARY(type, floor, __builtin_elementwise_floor)                                                 \
    UNARY(type, log, __builtin_elementwise_log)                                                     \
    UNARY(type, log10, __builtin_elementwise_log10)                                                 \
    UNARY(type, log2, __builtin_elementwise_log2)                                                   \
    UNARY(type, rint, __builtin_elementwise_rint)                                                   \
    UNARY(type, round, __builtin_elementwise_round)                                                 \
    UNARY(type, sqrt, __builtin_elementwise_sqrt)                                                   \
    UNARY(type, trunc, __builtin_elementwise_trunc)                                                 \
    OVER type rsqrt(type x) { return (type)1 / __builtin_elementwise_sqrt(x); }                     \
    OVER type fma(type x, type y, type z) { return __builtin_elementwise_fma(x, y, z); }            \
    OVER type mad(type x, type y, type z) { return __builtin_elementwise_fma(x, y, z); }            \
    OVER type fmax(type x, type y) { return __builtin_elementwise_maxnum(x, y); }                   \
    OVER type fmin(type x, type y) { return __builtin_elementwise_minnum(x, y); }                   \
    OVER type max(type x, type y) { return __builtin_elementwise_maxnum(x, y); }                    \
    OVER type min(type x, type y) { return __builtin_elementwise_minnum(x, y); }                    \
    OVER type clamp(type x, type low, type high) { return min(max(x, low), high); }                 \
    OVER type copysign(type x, type y) { return __builtin_elementwise_copysign(x, y); }             \
    OVER type mix(type x, type y, type a) { return x + (y - x) * a; }
// The fast ones of f32, as precise as the hardware's instructions are.
#define NATIVE(type)                                                                                \
    UNARY(type, native_exp, __builtin_elementwise_exp)                                              \
    UNARY(type, native_exp2, __builtin_elementwise_exp2)                                            \
    UNARY(type, native_log, __builtin_elementwise_log)                                              \
    UNARY(type, native_log2, __builtin_elementwise_log2)                                            \
    UNARY(type, native_sin, __builtin_elementwise_sin)                                              \
    UNARY(type, native_cos, __builtin_elementwise_cos)                                              \
    UNARY(type, native_sqrt, __builtin_elementwise_sqrt)                                            \
    OVER type native_rsqrt(type x) { return rsqrt(x); }                                             \
    OVER type native_recip(type x) { return (type)1 / x; }                                          \
    OVER type native_divide(type x, type y) { return x / y; }
#define INTEGERS(type)                                                                              \
    OVER type max(type x, type y) { return __builtin_elementwise_max(x, y); }                       \
    OVER type min(type x, type y) { return __builtin_elementwise_min(x, y); }                       \
    OVER type clamp(type x, type low, type high) { return min(max(x, low), high); }
#define WIDTHS(what, type) what(type) what(type##2) what(type##3) what(type##4) what(type##8) what(type##16)
WIDTHS(FLOATS, float)
WIDTHS(FLOATS, half)
WIDTHS(NATIVE, float)
WIDTHS(INTEGERS, char)
WIDTHS(INTEGERS, uchar)
WIDTHS(INTEGERS, short)
WIDTHS(INTEGERS, ushort)
WIDTHS(INTEGERS, int)
WIDTHS(INTEGERS, uint)
WIDTHS(INTEGERS, long)
WIDTHS(INTEGERS, ulong)
#define DOT(type)                                                                                   \
    OVER type dot(type x, type y) { return x * y; }                                                 \
    OVER type dot(type##2 x, type##2 y) { return x.x * y.x + x.y * y.y; }                           \
    OVER type dot(type##3 x, type##3 y) { return x.x * y.x + x.y * y.y + x.z * y.z; }               \
    OVER type dot(type##4 x, type##4 y) { return x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w; }
DOT(float)
DOT(half)

// ---- memory and conversions, of vectors ----
#define VECTOR(type, n)                                                                             \
    OVER type##n vload##n(size_t at, const type *p) {                                               \
        type##n out;                                                                                \
        __builtin_memcpy(&out, p + n * at, n * sizeof(type));                                       \
        return out;                                                                                 \
    }                                                                                               \
    OVER type##n vload##n(size_t at, const __constant type *p) {                                    \
        type##n out;                                                                                \
        for (int i = 0; i < n; ++i)                                                                 \
            out[i] = p[n * at + i];                                                                 \
        return out;                                                                                 \
    }                                                                                               \
    OVER void vstore##n(type##n value, size_t at, type *p) { __builtin_memcpy(p + n * at, &value, n * sizeof(type)); }
#define VECTORS(type) VECTOR(type, 2) VECTOR(type, 3) VECTOR(type, 4) VECTOR(type, 8) VECTOR(type, 16)
VECTORS(char)
VECTORS(uchar)
VECTORS(short)
VECTORS(ushort)
VECTORS(int)
VECTORS(uint)
VECTORS(long)
VECTORS(ulong)
VECTORS(half)
VECTORS(float)
OVER float vload_half(size_t at, const half *p) { return p[at]; }
OVER void vstore_half(float value, size_t at, half *p) { p[at] = value; }

#define CONVERT_N(to, from, n) OVER to##n convert_##to##n(from##n x) { return __builtin_convertvector(x, to##n); }
#define CONVERT(to, from)                                                                           \
    OVER to convert_##to(from x) { return (to)x; }                                                  \
    CONVERT_N(to, from, 2) CONVERT_N(to, from, 3) CONVERT_N(to, from, 4) CONVERT_N(to, from, 8) CONVERT_N(to, from, 16)
#define CONVERT_FROM_ALL(to)                                                                        \
    CONVERT(to, char) CONVERT(to, uchar) CONVERT(to, short) CONVERT(to, ushort) CONVERT(to, int)    \
    CONVERT(to, uint) CONVERT(to, long) CONVERT(to, ulong) CONVERT(to, half) CONVERT(to, float)
CONVERT_FROM_ALL(char)
CONVERT_FROM_ALL(uchar)
CONVERT_FROM_ALL(short)
CONVERT_FROM_ALL(ushort)
CONVERT_FROM_ALL(int)
CONVERT_FROM_ALL(uint)
CONVERT_FROM_ALL(long)
CONVERT_FROM_ALL(ulong)
CONVERT_FROM_ALL(half)
CONVERT_FROM_ALL(float)

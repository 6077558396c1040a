// SPDX-License-Identifier: MIT
// For kernels that clang compiles. One workgroup of x * y * z is launched: its size stands in the
// name.
typedef unsigned int u32;
typedef unsigned long long u64;
typedef _Float16 f16;
typedef __bf16 bf16;
#define KERNEL(name, x, y, z)                                                                      \
    __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(                                     \
                                      x * y * z, x * y * z))) void name##__##x##_##y##_##z
#define LDS static __attribute__((address_space(3), loader_uninitialized))
#define X ((int)__builtin_amdgcn_workitem_id_x())
#define Y ((int)__builtin_amdgcn_workitem_id_y())
#define Z ((int)__builtin_amdgcn_workitem_id_z())
enum { GROUP = 3, DEVICE = 4 }; // scopes of __hip_atomic_*
#define ROLLED _Pragma("clang loop unroll(disable)")
static inline void barrier(void) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

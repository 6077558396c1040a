// SPDX-License-Identifier: MIT
// The few functions of ROCm's device library that HIP's headers call here, for where it is not
// installed.
#pragma once

#ifdef __HIP_DEVICE_COMPILE__
#define OCKL(name, x, y, z)                                                                        \
    extern "C" __device__ inline __attribute__((weak)) size_t __ockl_get_##name(unsigned axis) {   \
        return axis == 0 ? (x) : axis == 1 ? (y) : (z);                                            \
    }
OCKL(local_id, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
     __builtin_amdgcn_workitem_id_z())
OCKL(group_id, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
     __builtin_amdgcn_workgroup_id_z())
OCKL(local_size, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
     __builtin_amdgcn_workgroup_size_z())
// The implicit arguments begin with the numbers of workgroups.
OCKL(num_groups, static_cast<const unsigned *>(__builtin_amdgcn_implicitarg_ptr())[0],
     static_cast<const unsigned *>(__builtin_amdgcn_implicitarg_ptr())[1],
     static_cast<const unsigned *>(__builtin_amdgcn_implicitarg_ptr())[2])
OCKL(global_size, __builtin_amdgcn_grid_size_x(), __builtin_amdgcn_grid_size_y(),
     __builtin_amdgcn_grid_size_z())

extern "C" __device__ inline __attribute__((weak)) void
__atomic_work_item_fence(unsigned, __memory_order order, __memory_scope) {
    if (order != __memory_order_relaxed)
        __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
#endif

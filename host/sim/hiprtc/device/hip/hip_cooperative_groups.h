// SPDX-License-Identifier: MIT
// The workgroup and the grid as groups.
#pragma once
#include <hip/hip_runtime.h>

extern "C" __device__ bool __ockl_grid_is_valid();
extern "C" __device__ void __ockl_grid_sync();

namespace cooperative_groups {

class thread_block {
public:
    __device__ void sync() const { __syncthreads(); }
    __device__ unsigned thread_rank() const {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    __device__ unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    __device__ unsigned num_threads() const { return size(); }
    __device__ dim3 group_index() const { return blockIdx; }
    __device__ dim3 thread_index() const { return threadIdx; }
};
__device__ __forceinline__ thread_block this_thread_block() { return {}; }

class grid_group {
public:
    __device__ bool is_valid() const { return __ockl_grid_is_valid(); }
    __device__ void sync() const { __ockl_grid_sync(); }
    __device__ unsigned block_rank() const {
        return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    }
    __device__ unsigned thread_rank() const {
        return block_rank() * this_thread_block().size() + this_thread_block().thread_rank();
    }
    __device__ unsigned size() const {
        return gridDim.x * gridDim.y * gridDim.z * this_thread_block().size();
    }
    __device__ unsigned num_threads() const { return size(); }
};
__device__ __forceinline__ grid_group this_grid() { return {}; }

template <class Group> __device__ __forceinline__ void sync(const Group &group) { group.sync(); }

} // namespace cooperative_groups

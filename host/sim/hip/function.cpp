// SPDX-License-Identifier: MIT
// What hosts ask about a kernel.
#include <algorithm>

#include "sim/hip/fatbin.h"
#include "sim/hip/properties.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

static int attribute(const sim::KernelInfo &kernel, hipFunction_attribute which) {
    switch (which) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return static_cast<int>(kernel.max_workgroup);
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        return static_cast<int>(kernel.lds_bytes);
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        return static_cast<int>(kernel.scratch_bytes);
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
        return static_cast<int>(kernel.vgprs);
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return static_cast<int>(lds_bytes_per_workgroup - kernel.lds_bytes);
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return 0; // nothing on AMD hardware answers to it
    default:
        fail(hipErrorInvalidValue);
    }
}

// Workgroups of `workgroup` work-items that fit on one WGP, which is what HIP calls a
// multiprocessor.
static u32 workgroups_per_wgp(const Function &function, u32 workgroup, u64 dynamic_lds) {
    constexpr u32 simds = 4;
    const sim::KernelInfo &kernel = *function.kernel;
    const u64 lds = kernel.lds_bytes + dynamic_lds;
    if (workgroup > kernel.max_workgroup || lds > lds_bytes_per_workgroup)
        return 0;
    const u32 waves =
        sim::waves_per_simd(function.device->facts, kernel, workgroup, static_cast<u32>(lds));
    return waves * simds / ceil_div(workgroup, kernel.wave_size);
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute which, hipFunction_t handle) {
    return api(__func__, [&] {
        runtime();
        require(value != nullptr, hipErrorInvalidValue);
        require(handle != nullptr, hipErrorInvalidDeviceFunction);
        *value = attribute(*find_function(handle)->kernel, which);
    });
}

hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, const void *host_function) {
    return api(__func__, [&] {
        runtime();
        require(attributes != nullptr, hipErrorInvalidValue);
        const sim::KernelInfo &kernel = *find_function(compiled_function(host_function))->kernel;
        *attributes = {};
        attributes->localSizeBytes = kernel.scratch_bytes;
        attributes->maxDynamicSharedSizeBytes =
            attribute(kernel, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
        attributes->maxThreadsPerBlock = static_cast<int>(kernel.max_workgroup);
        attributes->numRegs = static_cast<int>(kernel.vgprs);
        attributes->sharedSizeBytes = kernel.lds_bytes;
    });
}

// All of LDS is always there for the asking, and there is no cache to configure: accepted, no
// effect, as on real ROCm.
hipError_t hipFuncSetAttribute(const void *function, hipFuncAttribute, int value) {
    return api(__func__, [&] {
        runtime();
        require(function != nullptr, hipErrorInvalidDeviceFunction);
        require(value >= 0, hipErrorInvalidValue);
    });
}

hipError_t hipFuncSetCacheConfig(const void *function, hipFuncCache_t config) {
    return api(__func__, [&] {
        runtime();
        require(function != nullptr, hipErrorInvalidDeviceFunction);
        require(config >= hipFuncCachePreferNone && config <= hipFuncCachePreferEqual,
                hipErrorInvalidValue);
    });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t handle,
                                                              int block_size, size_t dynamic_lds) {
    return api(__func__, [&] {
        runtime();
        require(blocks != nullptr && block_size > 0, hipErrorInvalidValue);
        require(handle != nullptr, hipErrorInvalidValue);
        *blocks = static_cast<int>(
            workgroups_per_wgp(*find_function(handle), static_cast<u32>(block_size), dynamic_lds));
    });
}

// SPDX-License-Identifier: MIT
// Kernel attributes.
#include <algorithm>
#include <mutex>
#include <set>

#include "sim/hip/device/properties.h"
#include "sim/hip/launch/kernel_call.h"
#include "sim/hip/module/fatbin.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

constexpr int ptx_version = 30; // there is no PTX: a positive number for hosts that want one

// 10 * major + minor of the architecture, as HIP has it for CUDA's: 110 for gfx1100.
static int binary_version(const Function &function) {
    const PropR0600 all = properties(function.device->facts, function.device->ordinal);
    return 10 * all.major + all.minor;
}

static int attribute(const Function &function, hipFunction_attribute which) {
    const sim::KernelInfo &kernel = *function.kernel;
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
        return static_cast<int>(function.device->facts.target->lds_per_workgroup -
                                kernel.lds_bytes);
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
        return ptx_version;
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
        return binary_version(function);
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return 0; // nothing on AMD hardware answers to it
    default:
        fail(hipErrorInvalidValue);
    }
}

static const char *lasting(const std::string &name) {
    static std::mutex mutex;
    static auto *const names = new std::set<std::string>;
    const std::lock_guard lock(mutex);
    return names->insert(name).first->c_str();
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute which, hipFunction_t handle) {
    return api(__func__, [&] {
        runtime();
        require(value != nullptr, hipErrorInvalidValue);
        require(handle != nullptr, hipErrorInvalidHandle);
        *value = attribute(*find_function(handle), which);
    });
}

hipError_t hipFuncGetAttributes(hipFuncAttributes *attributes, const void *host_function) {
    return api(__func__, [&] {
        runtime();
        require(attributes != nullptr, hipErrorInvalidValue);
        require(host_function != nullptr, hipErrorInvalidDeviceFunction);
        const auto function = find_function(function_named(host_function));
        const sim::KernelInfo &kernel = *function->kernel;
        *attributes = {};
        attributes->localSizeBytes = kernel.scratch_bytes;
        attributes->maxDynamicSharedSizeBytes =
            attribute(*function, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
        attributes->maxThreadsPerBlock = static_cast<int>(kernel.max_workgroup);
        attributes->numRegs = static_cast<int>(kernel.vgprs);
        attributes->sharedSizeBytes = kernel.lds_bytes;
        attributes->binaryVersion = binary_version(*function);
        attributes->ptxVersion = ptx_version;
    });
}

// All of LDS is always available and no cache is configurable: accepted without effect, as on real
// ROCm.
hipError_t hipFuncSetAttribute(const void *function, hipFuncAttribute which, int value) {
    return api(__func__, [&] {
        runtime();
        require(function != nullptr, hipErrorInvalidDeviceFunction);
        const bool carveout = which == hipFuncAttributePreferredSharedMemoryCarveout;
        require(value >= (carveout ? -1 : 0), hipErrorInvalidValue); // -1: the default
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

hipError_t hipFuncSetSharedMemConfig(const void *function, hipSharedMemConfig config) {
    return api(__func__, [&] {
        runtime();
        require(function != nullptr, hipErrorInvalidDeviceFunction);
        require(config >= hipSharedMemBankSizeDefault && config <= hipSharedMemBankSizeEightByte,
                hipErrorInvalidValue);
    });
}

extern "C" {

hipError_t function_of_symbol(hipFunction_t *function,
                              const void *host_function) asm("hipGetFuncBySymbol");
hipError_t function_of_symbol(hipFunction_t *function, const void *host_function) {
    return api("hipGetFuncBySymbol", [&] {
        runtime();
        require(function && host_function, hipErrorInvalidValue);
        *function = compiled_function(host_function);
    });
}

// For tracers: a name that lives as long as the process; null for what is no kernel.
const char *hipKernelNameRef(const hipFunction_t handle) {
    const char *name = nullptr;
    static_cast<void>(
        guarded(__func__, [&] { name = lasting(find_function(handle)->kernel->name); }));
    return name;
}

const char *hipKernelNameRefByPtr(const void *host_function, hipStream_t) {
    const char *name = nullptr;
    static_cast<void>(guarded(__func__, [&] {
        if (host_function)
            name = lasting(find_function(function_named(host_function))->kernel->name);
    }));
    return name;
}
}

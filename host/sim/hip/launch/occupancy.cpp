// SPDX-License-Identifier: MIT
#include "sim/hip/launch/occupancy.h"

#include <algorithm>

#include "sim/hip/device/properties.h"
#include "sim/hip/launch/kernel_call.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

u32 workgroups_per_wgp(const Function &function, u32 workgroup, u64 dynamic_lds) {
    const sim::KernelInfo &kernel = *function.kernel;
    const sim::Device &device = function.device->facts;
    const u64 lds = kernel.lds_bytes + dynamic_lds;
    if (workgroup > kernel.max_workgroup || lds < dynamic_lds ||
        lds > device.target->lds_per_workgroup)
        return 0;
    return sim::residency(device, kernel, workgroup)
        .groups(sim::allocated_vgprs(kernel), static_cast<u32>(lds));
}

static void active_blocks(int *blocks, hipFunction_t handle, int workgroup, u64 dynamic_lds,
                          unsigned flags) {
    constexpr unsigned caching_override = 1; // hipOccupancyDisableCachingOverride
    require(blocks && workgroup > 0 && (flags & ~caching_override) == 0, hipErrorInvalidValue);
    *blocks = static_cast<int>(
        workgroups_per_wgp(*find_function(handle), static_cast<u32>(workgroup), dynamic_lds));
}

// The workgroup size, a multiple of the wave size, with most waves on a WGP: the largest of equals.
static void best_size(int *grid, int *workgroup, hipFunction_t handle, u64 dynamic_lds, int limit,
                      unsigned flags) {
    constexpr unsigned caching_override = 1;
    require(grid && workgroup && limit >= 0 && (flags & ~caching_override) == 0,
            hipErrorInvalidValue);
    const auto function = find_function(handle);
    const u32 wave = function->kernel->wave_size;
    const u32 most = std::min(limit > 0 ? static_cast<u32>(limit) : max_workgroup,
                              function->kernel->max_workgroup);
    u32 best = 0, best_waves = 0, best_groups = 0;
    for (u32 size = std::min(wave, most); size <= most && size > 0; size += wave) {
        const u32 groups = workgroups_per_wgp(*function, size, dynamic_lds);
        const u32 waves = groups * ceil_div(size, wave);
        if (waves >= best_waves && groups > 0)
            best = size, best_waves = waves, best_groups = groups;
    }
    require(best > 0, hipErrorInvalidValue);
    *workgroup = static_cast<int>(best);
    *grid = static_cast<int>(best_groups * function->device->facts.wgps);
}

static hipFunction_t given(hipFunction_t function) {
    require(function != nullptr, hipErrorInvalidValue);
    return function;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t function,
                                                              int workgroup, size_t dynamic_lds) {
    return api(__func__, [&] {
        runtime();
        active_blocks(blocks, given(function), workgroup, dynamic_lds, 0);
    });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, hipFunction_t function, int workgroup, size_t dynamic_lds, unsigned flags) {
    return api(__func__, [&] {
        runtime();
        active_blocks(blocks, given(function), workgroup, dynamic_lds, flags);
    });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host_function,
                                                        int workgroup, size_t dynamic_lds) {
    return api(__func__, [&] {
        runtime();
        active_blocks(blocks, function_named(host_function), workgroup, dynamic_lds, 0);
    });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                 const void *host_function,
                                                                 int workgroup, size_t dynamic_lds,
                                                                 unsigned flags) {
    return api(__func__, [&] {
        runtime();
        active_blocks(blocks, function_named(host_function), workgroup, dynamic_lds, flags);
    });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int *grid, int *workgroup,
                                                   hipFunction_t function, size_t dynamic_lds,
                                                   int limit) {
    return api(__func__, [&] {
        runtime();
        best_size(grid, workgroup, given(function), dynamic_lds, limit, 0);
    });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *workgroup,
                                                            hipFunction_t function,
                                                            size_t dynamic_lds, int limit,
                                                            unsigned flags) {
    return api(__func__, [&] {
        runtime();
        best_size(grid, workgroup, given(function), dynamic_lds, limit, flags);
    });
}

hipError_t hipOccupancyMaxPotentialBlockSize(int *grid, int *workgroup, const void *host_function,
                                             size_t dynamic_lds, int limit) {
    return api(__func__, [&] {
        runtime();
        best_size(grid, workgroup, function_named(host_function), dynamic_lds, limit, 0);
    });
}

// Since HIP 7.2.
hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host_function,
                                                    int blocks, int workgroup) {
    return api(__func__, [&] {
        runtime();
        require(bytes && blocks > 0 && workgroup > 0, hipErrorInvalidValue);
        const auto function = find_function(function_named(host_function));
        const nw::Target &target = *function->device->facts.target;
        *bytes = 0;
        for (nw::u64 lds = 0; lds <= target.lds_per_workgroup; lds += target.lds_block)
            if (workgroups_per_wgp(*function, static_cast<nw::u32>(workgroup), lds) >=
                static_cast<nw::u32>(blocks))
                *bytes = lds;
    });
}
}

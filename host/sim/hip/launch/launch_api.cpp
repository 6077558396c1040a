// SPDX-License-Identifier: MIT
// All entry points that launch a kernel.
#include <algorithm>
#include <span>

#include "sim/hip/device/properties.h"
#include "sim/hip/launch/kernel_call.h"
#include "sim/hip/launch/launch_config.h"
#include "sim/hip/module/fatbin.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

static hipError_t launch_module(const char *call, hipFunction_t function, const LaunchShape &shape,
                                hipStream_t stream, void **params, void **extra,
                                hipEvent_t start = nullptr, hipEvent_t stop = nullptr) {
    return api(call, [&] {
        return launch(make_call(function, shape, params, extra), stream, start, stop);
    });
}

static hipError_t launch_compiled(const char *call, const void *host_function,
                                  const LaunchShape &shape, hipStream_t stream, void **params,
                                  hipEvent_t start = nullptr, hipEvent_t stop = nullptr) {
    return api(call, [&] {
        KernelCall made = make_call(function_named(host_function), shape, params, nullptr);
        made.named = const_cast<void *>(host_function);
        return launch(std::move(made), stream, start, stop);
    });
}

static bool any_order(unsigned flags) {
    constexpr unsigned any_order_launch = 1; // hipExtAnyOrderLaunch
    return (flags & any_order_launch) != 0;
}

// The Ext forms count work-items, and allow a last workgroup that is not full. Whole ones only
// here. A workgroup that is larger than the grid shrinks to it.
static LaunchShape in_workgroups(const dim3 &items, dim3 block, u64 dynamic_lds) {
    const auto valid = [](u32 size) { return size > 0 && size <= max_workgroup; };
    require(valid(block.x) && valid(block.y) && valid(block.z), hipErrorInvalidValue);
    const auto shrunk = [](u32 size, u32 grid) { return grid > 0 ? std::min(size, grid) : size; };
    block = {shrunk(block.x, items.x), shrunk(block.y, items.y), shrunk(block.z, items.z)};
    if (items.x % block.x || items.y % block.y || items.z % block.z)
        fail(hipErrorNotSupported,
             "a grid that is not a multiple of the workgroup: only full workgroups are supported");
    return {{items.x / block.x, items.y / block.y, items.z / block.z}, block, dynamic_lds};
}

static hipError_t launch_items(const char *call, hipFunction_t function, const dim3 &items,
                               const dim3 &block, u64 dynamic_lds, hipStream_t stream,
                               void **params, void **extra, hipEvent_t start, hipEvent_t stop,
                               unsigned flags = 0) {
    return api(call, [&] {
        LaunchShape shape = in_workgroups(items, block, dynamic_lds);
        shape.any_order = any_order(flags);
        return launch(make_call(function, shape, params, extra), stream, start, stop);
    });
}

// Performance attributes are ignored; an unknown one is an error.
static bool wants_cooperation(const LaunchAttribute *attributes, unsigned count) {
    require(attributes || count == 0, hipErrorInvalidConfiguration);
    bool wanted = false;
    for (const LaunchAttribute &attribute : std::span(attributes, count)) {
        require(attribute.id == launch_ignore || attribute.id == launch_access_policy_window ||
                    attribute.id == launch_cooperative || attribute.id == launch_priority,
                hipErrorInvalidValue);
        if (attribute.id == launch_cooperative)
            wanted = attribute.value.cooperative != 0;
    }
    return wanted;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned dynamic_lds, hipStream_t stream,
                                 void **params, void **extra) {
    return launch_module(__func__, function,
                         {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_lds},
                         stream, params, extra);
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x,
                                            unsigned grid_y, unsigned grid_z, unsigned block_x,
                                            unsigned block_y, unsigned block_z,
                                            unsigned dynamic_lds, hipStream_t stream,
                                            void **params) {
    return launch_module(__func__, function,
                         {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_lds, true},
                         stream, params, nullptr);
}

hipError_t hipLaunchKernel(const void *host_function, dim3 grid, dim3 block, void **params,
                           size_t dynamic_lds, hipStream_t stream) {
    return launch_compiled(__func__, host_function, {grid, block, dynamic_lds}, stream, params);
}

hipError_t hipExtLaunchKernel(const void *host_function, dim3 grid, dim3 block, void **params,
                              size_t dynamic_lds, hipStream_t stream, hipEvent_t start,
                              hipEvent_t stop, int flags) {
    return launch_compiled(
        __func__, host_function,
        {grid, block, dynamic_lds, false, any_order(static_cast<unsigned>(flags))}, stream, params,
        start, stop);
}

hipError_t hipLaunchCooperativeKernel(const void *host_function, dim3 grid, dim3 block,
                                      void **params, unsigned dynamic_lds, hipStream_t stream) {
    return launch_compiled(__func__, host_function, {grid, block, dynamic_lds, true}, stream,
                           params);
}

hipError_t launch_configured(const LaunchConfig *config, const void *host_function,
                             void **params) asm("hipLaunchKernelExC");
hipError_t launch_configured(const LaunchConfig *config, const void *host_function, void **params) {
    constexpr const char *call = "hipLaunchKernelExC";
    bool cooperative = false;
    const hipError_t error = api(call, [&] {
        require(host_function != nullptr, hipErrorInvalidDeviceFunction);
        require(config != nullptr, hipErrorInvalidConfiguration);
        cooperative = wants_cooperation(config->attributes, config->attribute_count);
    });
    return error != hipSuccess
               ? error
               : launch_compiled(call, host_function,
                                 {config->grid, config->block, config->dynamic_lds, cooperative},
                                 config->stream, params);
}

hipError_t launch_driver_configured(const DriverLaunchConfig *config, hipFunction_t function,
                                    void **params, void **extra) asm("hipDrvLaunchKernelEx");
hipError_t launch_driver_configured(const DriverLaunchConfig *config, hipFunction_t function,
                                    void **params, void **extra) {
    constexpr const char *call = "hipDrvLaunchKernelEx";
    LaunchShape shape;
    const hipError_t error = api(call, [&] {
        require(function != nullptr, hipErrorInvalidHandle);
        require(config != nullptr, hipErrorInvalidConfiguration);
        const auto &[grid, block, dynamic_lds, stream, attributes, count] = *config;
        shape = {{grid[0], grid[1], grid[2]},
                 {block[0], block[1], block[2]},
                 dynamic_lds,
                 wants_cooperation(attributes, count)};
    });
    return error != hipSuccess
               ? error
               : launch_module(call, function, shape, config->stream, params, extra);
}

// In C++ name form up to ROCm 5, as C since ROCm 6.
hipError_t ext_launch(hipFunction_t function, uint32_t items_x, uint32_t items_y, uint32_t items_z,
                      uint32_t block_x, uint32_t block_y, uint32_t block_z, size_t dynamic_lds,
                      hipStream_t stream, void **params, void **extra, hipEvent_t start,
                      hipEvent_t stop, uint32_t flags) asm("hipExtModuleLaunchKernel");
hipError_t ext_launch(hipFunction_t function, uint32_t items_x, uint32_t items_y, uint32_t items_z,
                      uint32_t block_x, uint32_t block_y, uint32_t block_z, size_t dynamic_lds,
                      hipStream_t stream, void **params, void **extra, hipEvent_t start,
                      hipEvent_t stop, uint32_t flags) {
    return launch_items("hipExtModuleLaunchKernel", function, {items_x, items_y, items_z},
                        {block_x, block_y, block_z}, dynamic_lds, stream, params, extra, start,
                        stop, flags);
}

hipError_t hcc_launch(hipFunction_t function, uint32_t items_x, uint32_t items_y, uint32_t items_z,
                      uint32_t block_x, uint32_t block_y, uint32_t block_z, size_t dynamic_lds,
                      hipStream_t stream, void **params, void **extra, hipEvent_t start,
                      hipEvent_t stop) asm("hipHccModuleLaunchKernel");
hipError_t hcc_launch(hipFunction_t function, uint32_t items_x, uint32_t items_y, uint32_t items_z,
                      uint32_t block_x, uint32_t block_y, uint32_t block_z, size_t dynamic_lds,
                      hipStream_t stream, void **params, void **extra, hipEvent_t start,
                      hipEvent_t stop) {
    return launch_items("hipHccModuleLaunchKernel", function, {items_x, items_y, items_z},
                        {block_x, block_y, block_z}, dynamic_lds, stream, params, extra, start,
                        stop);
}

decltype(ext_launch) ext_launch_cpp asm("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_"
                                        "tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j")
    __attribute__((alias("hipExtModuleLaunchKernel")));
decltype(hcc_launch) hcc_launch_cpp asm("_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_"
                                        "tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_")
    __attribute__((alias("hipHccModuleLaunchKernel")));
}

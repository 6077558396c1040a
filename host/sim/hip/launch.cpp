// SPDX-License-Identifier: MIT
#include "sim/hip/launch.h"

#include <fmt/format.h>

#include "sim/hip/kernarg.h"
#include "sim/hip/properties.h"
#include "sim/hip/runtime.h"
#include "sim/hip/version.h"

namespace nw::hipsim {

// In the order and with the codes of HIP 6.2; HIP 7 calls a bad shape a bad configuration.
static void check_shape(const LaunchShape &shape, const sim::KernelInfo &kernel) {
    const auto &[grid, block, dynamic_lds] = shape;
    const hipError_t bad_shape =
        host_major() >= 7 ? hipErrorInvalidConfiguration : hipErrorInvalidValue;
    const auto empty = [](const dim3 &d) { return d.x == 0 || d.y == 0 || d.z == 0; };
    require(!empty(grid) && !empty(block), bad_shape);
    require(u64{grid.x} * block.x <= UINT32_MAX, hipErrorInvalidConfiguration);
    require(grid.y <= max_grid_yz && grid.z <= max_grid_yz, hipErrorInvalidValue);
    const u64 threads = u64{block.x} * block.y * block.z; // three 32-bit factors: check one by one
    require(block.x <= max_workgroup && block.y <= max_workgroup && block.z <= max_workgroup &&
                threads <= max_workgroup,
            bad_shape);
    if (threads > kernel.max_workgroup)
        fail(hipErrorLaunchFailure,
             fmt::format("{}: {} work-items per workgroup, its .max_flat_workgroup_size is {}",
                         kernel.name, threads, kernel.max_workgroup));
    if (kernel.lds_bytes > lds_bytes_per_workgroup ||
        dynamic_lds > lds_bytes_per_workgroup - kernel.lds_bytes)
        fail(hipErrorInvalidValue,
             fmt::format("{}: {} static and {} dynamic bytes of LDS, a workgroup has {}",
                         kernel.name, kernel.lds_bytes, dynamic_lds, lds_bytes_per_workgroup));
}

static hipError_t code_of(sim::Fault::Kind kind) {
    switch (kind) {
    case sim::Fault::Kind::illegal_address:
        return hipErrorIllegalAddress;
    case sim::Fault::Kind::endless:
        return hipErrorLaunchTimeOut;
    case sim::Fault::Kind::illegal_instruction:
    case sim::Fault::Kind::barrier:
    case sim::Fault::Kind::bad_dispatch:
    case sim::Fault::Kind::checker:
        return hipErrorLaunchFailure;
    }
    return hipErrorLaunchFailure;
}

namespace {

// Owns all that a queued kernel needs: its module may be unloaded and its arguments freed by then.
struct QueuedKernel {
    std::shared_ptr<const sim::Program> program;
    const sim::KernelInfo *kernel;
    Device *device;
    sim::Dispatch dispatch;
    std::vector<std::byte> kernarg;
    Runtime *runtime;

    hipError_t run() noexcept {
        return guarded(kernel->name.c_str(), [&] {
            dispatch.kernarg = kernarg;
            try {
                const auto stats =
                    sim::run(dispatch, device->memory, device->facts, runtime->config.run);
                if (runtime->stats.wanted())
                    runtime->stats.write(dispatch, device->facts, stats);
            } catch (const sim::Fault &fault) {
                say(fault.what()); // it names the kernel
                fail(code_of(fault.kind));
            }
        });
    }
};

} // namespace

hipError_t launch(hipFunction_t handle, const LaunchShape &shape, hipStream_t stream_handle,
                  void **params, void **extra) {
    Runtime &runtime = hipsim::runtime();
    const auto function = find_function(handle);
    check_shape(shape, *function->kernel);
    const auto stream = runtime.stream(stream_handle);
    require(stream->device == function->device->ordinal, hipErrorInvalidHandle);

    auto queued = std::make_shared<QueuedKernel>();
    queued->runtime = &runtime;
    queued->program = function->program;
    queued->kernel = function->kernel;
    queued->device = function->device;
    queued->dispatch = {.program = function->program.get(),
                        .kernel = function->kernel,
                        .grid = {shape.grid.x, shape.grid.y, shape.grid.z},
                        .block = {shape.block.x, shape.block.y, shape.block.z},
                        .dynamic_lds = static_cast<u32>(shape.dynamic_lds)};
    queued->kernarg = pack_kernarg(*function, queued->dispatch, params, extra);

    Device &device = *function->device;
    if (runtime.config.launch_blocking)
        return device.run_now(*stream, [&] { return queued->run(); });
    device.submit(*stream, [queued] { return queued->run(); });
    return hipSuccess;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned dynamic_lds, hipStream_t stream,
                                 void **params, void **extra) {
    return api(__func__, [&] {
        const LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_lds};
        return launch(function, shape, stream, params, extra);
    });
}

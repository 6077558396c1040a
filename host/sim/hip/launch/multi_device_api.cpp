// SPDX-License-Identifier: MIT
// Launches of one grid on each of several devices.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "sim/hip/graph/capture.h"
#include "sim/hip/launch/kernel_call.h"
#include "sim/hip/launch/launch_config.h"
#include "sim/hip/services/multi_grid.h"

namespace nw::hipsim {

namespace {

enum ManyFlag : unsigned { no_wait_before = 1, no_wait_after = 2 }; // for the devices' streams

struct LaunchOfMany {
    hipFunction_t function;
    LaunchShape shape;
    void **params;
    hipStream_t handle;
    std::shared_ptr<Stream> stream;
};

// The current device, for as long as this lives.
class WhileCurrent {
public:
    explicit WhileCurrent(int ordinal) : before_(runtime().current_ordinal()) {
        runtime().set_current_device(ordinal);
    }
    ~WhileCurrent() { runtime().set_current_device(before_); }
    WhileCurrent(const WhileCurrent &) = delete;

private:
    const int before_;
};

LaunchOfMany launch_of(const FunctionLaunchParams &p, bool cooperative) {
    const auto &[function, grid, block, dynamic_lds, stream, params] = p;
    return {function,
            {{grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, dynamic_lds, cooperative},
            params,
            stream,
            runtime().stream(stream, hipErrorInvalidValue)};
}

LaunchOfMany launch_of(const hipLaunchParams &p, bool cooperative) {
    const auto stream = runtime().stream(p.stream, hipErrorInvalidValue);
    const WhileCurrent there(stream->device);
    return {function_named(p.func),
            {p.gridDim, p.blockDim, p.sharedMem, cooperative},
            p.args,
            p.stream,
            stream};
}

void check_launches(std::span<const LaunchOfMany> launches) {
    for (const LaunchOfMany &launch : launches) {
        const dim3 &block = launch.shape.block;
        require(block.x && block.y && block.z, hipErrorInvalidConfiguration);
        if (!launch.handle)
            fail(hipErrorInvalidHandle, "the null stream belongs to no device of the launch: each "
                                        "grid needs a stream that was made on its device");
        for (const LaunchOfMany *other = launches.data(); other != &launch; ++other)
            if (other->stream->device == launch.stream->device)
                fail(hipErrorInvalidDevice,
                     fmt::format("two streams of device {}: each grid needs a device of its own",
                                 launch.stream->device));
        if (capturing(*launch.stream))
            fail(hipErrorStreamCaptureUnsupported, "a launch over several devices is no node");
    }
}

std::vector<KernelCall> make_calls(std::span<const LaunchOfMany> launches) {
    std::vector<KernelCall> calls;
    for (const LaunchOfMany &launch : launches) {
        calls.push_back(make_call(launch.function, launch.shape, launch.params, nullptr));
        require(calls.back().function->device->ordinal == launch.stream->device,
                hipErrorInvalidHandle);
    }
    return calls;
}

void let_meet(std::vector<KernelCall> &calls) {
    std::vector<MultiGrid::Grid> grids;
    for (const KernelCall &call : calls) {
        const dim3 &grid = call.shape.grid, &block = call.shape.block;
        const u64 groups = u64{grid.x} * grid.y * grid.z;
        grids.push_back({call.function->device, static_cast<u32>(groups),
                         groups * block.x * block.y * block.z});
    }
    const auto all = std::make_shared<MultiGrid>(grids);
    for (u32 n = 0; n < calls.size(); ++n) {
        calls[n].grids = all;
        calls[n].grid = n;
    }
}

// Errors stay with the streams.
void wait_for(std::span<const LaunchOfMany> launches) {
    for (const auto &launch : launches)
        launch.stream->report(runtime().device_of(*launch.stream).synchronize(*launch.stream));
}

void launch_all(std::span<const LaunchOfMany> launches, bool cooperative, unsigned flags) {
    check_launches(launches);
    if (!(flags & no_wait_before))
        wait_for(launches);
    auto calls = make_calls(launches); // all are checked before any begins
    if (cooperative)
        let_meet(calls);
    for (std::size_t n = 0; n < launches.size(); ++n)
        enqueue(launches[n].stream, std::move(calls[n]));
    if (!(flags & no_wait_after) || runtime().config.launch_blocking)
        wait_for(launches);
}

template <class Params>
hipError_t launch_list(const char *call, const Params *list, int count, bool cooperative,
                       unsigned flags) {
    return api(call, [&] {
        require(list != nullptr, hipErrorInvalidValue);
        const int most = runtime().device_count();
        if (count < 1 || (count > most && !runtime().has_opened()))
            fail(hipErrorInvalidValue,
                 fmt::format("{} devices: must be 1..{}, as hipGetDeviceCount says", count, most));
        if (flags > (no_wait_before | no_wait_after))
            fail(hipErrorInvalidValue, fmt::format("flags {}: must be 0..3", flags));
        std::vector<LaunchOfMany> launches;
        for (const Params &params : std::span(list, static_cast<std::size_t>(count)))
            launches.push_back(launch_of(params, cooperative));
        launch_all(launches, cooperative, flags);
    });
}

} // namespace

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams *list, int count, unsigned flags) {
    return launch_list(__func__, list, count, true, flags);
}

hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams *list, int count, unsigned flags) {
    return launch_list(__func__, list, count, false, flags);
}

// Since HIP 5.5.
hipError_t launch_functions(FunctionLaunchParams *list, unsigned count,
                            unsigned flags) asm("hipModuleLaunchCooperativeKernelMultiDevice");
hipError_t launch_functions(FunctionLaunchParams *list, unsigned count, unsigned flags) {
    return launch_list("hipModuleLaunchCooperativeKernelMultiDevice", list,
                       static_cast<int>(std::min(count, 1u << 16)), true, flags);
}
}

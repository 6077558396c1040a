// SPDX-License-Identifier: MIT
#include "sim/hip/launch/kernel_call.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/hip/device/properties.h"
#include "sim/hip/graph/capture.h"
#include "sim/hip/ipc/shared_memory.h"
#include "sim/hip/launch/kernarg.h"
#include "sim/hip/launch/occupancy.h"
#include "sim/hip/module/fatbin.h"
#include "sim/hip/runtime.h"
#include "sim/hip/services/launch_services.h"
#include "sim/hip/services/multi_grid.h"
#include "sim/hip/version.h"
#include "sim/timing/files/launch_json.h"

namespace nw::hipsim {

// In the order and with the codes of HIP 6.2; HIP 7 calls a bad shape a bad configuration.
static void check_shape(const LaunchShape &shape, const Function &function) {
    const sim::KernelInfo &kernel = *function.kernel;
    const u32 most_lds = function.device->facts.target->lds_per_workgroup;
    const auto &[grid, block, dynamic_lds, cooperative, any_order] = shape;
    const hipError_t bad_shape =
        host_major() >= 7 ? hipErrorInvalidConfiguration : hipErrorInvalidValue;
    const auto empty = [](const dim3 &d) { return d.x == 0 || d.y == 0 || d.z == 0; };
    require(!empty(grid) && !empty(block), bad_shape);
    require(u64{grid.x} * block.x <= UINT32_MAX, hipErrorInvalidConfiguration);
    require(grid.x <= max_grid_x && grid.y <= max_grid_yz && grid.z <= max_grid_yz,
            hipErrorInvalidValue);
    const u64 threads = u64{block.x} * block.y * block.z; // three 32-bit factors: check one by one
    require(block.x <= max_workgroup && block.y <= max_workgroup && block.z <= max_workgroup &&
                threads <= max_workgroup,
            bad_shape);
    if (threads > kernel.max_workgroup)
        fail(hipErrorLaunchFailure,
             fmt::format("{}: {} work-items per workgroup, its .max_flat_workgroup_size is {}",
                         kernel.name, threads, kernel.max_workgroup));
    if (kernel.lds_bytes > most_lds || dynamic_lds > most_lds - kernel.lds_bytes)
        fail(hipErrorInvalidValue,
             fmt::format("{}: {} static and {} dynamic bytes of LDS, a workgroup has {}",
                         kernel.name, kernel.lds_bytes, dynamic_lds, most_lds));
}

static hipError_t code_of(sim::Fault::Kind kind) {
    switch (kind) {
    case sim::Fault::Kind::illegal_address:
        return hipErrorIllegalAddress;
    case sim::Fault::Kind::endless:
        return hipErrorLaunchTimeOut;
    case sim::Fault::Kind::out_of_memory:
        return hipErrorOutOfMemory;
    case sim::Fault::Kind::illegal_instruction:
    case sim::Fault::Kind::barrier:
    case sim::Fault::Kind::bad_dispatch:
    case sim::Fault::Kind::checker:
        return hipErrorLaunchFailure;
    }
    return hipErrorLaunchFailure;
}

// All workgroups must be resident: they wait for each other.
static void check_cooperative(const LaunchShape &shape, const Function &function) {
    const dim3 &grid = shape.grid, &block = shape.block;
    const u64 groups = u64{grid.x} * grid.y * grid.z;
    const u64 resident =
        u64{workgroups_per_wgp(function, block.x * block.y * block.z, shape.dynamic_lds)} *
        function.device->facts.wgps;
    if (groups > resident)
        fail(hipErrorCooperativeLaunchTooLarge,
             fmt::format("{}: a cooperative launch of {} workgroups, {} fit on the device",
                         function.kernel->name, groups, resident));
}

static sim::Dispatch dispatch_of(const Function &function, const LaunchShape &shape) {
    return {.program = function.program.get(),
            .kernel = function.kernel,
            .grid = {shape.grid.x, shape.grid.y, shape.grid.z},
            .block = {shape.block.x, shape.block.y, shape.block.z},
            .dynamic_lds = static_cast<u32>(shape.dynamic_lds),
            .kernarg = {},
            .cooperative = shape.cooperative,
            .stack_bytes = static_cast<u32>(function.device->stack_bytes)};
}

KernelCall make_call(hipFunction_t handle, const LaunchShape &shape, void **params, void **extra) {
    const auto function = find_function(handle);
    check_shape(shape, *function);
    if (shape.cooperative)
        check_cooperative(shape, *function);
    KernelCall call{function, shape, {}};
    call.kernarg = pack_kernarg(*function, dispatch_of(*function, shape), params, extra);
    call.named = reinterpret_cast<void *>(handle);
    if (runtime().findings.wanted())
        call.host = std::make_shared<const HostTrace>(host_trace());
    return call;
}

void set_cooperative(KernelCall &call, bool wanted) {
    if (wanted)
        check_cooperative(call.shape, *call.function);
    call.shape.cooperative = wanted;
}

// The most waves of a launch that live at once.
static u32 live_waves(const Function &function, const LaunchShape &shape) {
    constexpr u64 waves_per_wgp = 80; // 4 SIMDs of 20
    const dim3 &grid = shape.grid, &block = shape.block;
    const u64 waves = u64{grid.x} * grid.y * grid.z *
                      ceil_div(block.x * block.y * block.z, function.kernel->wave_size);
    return static_cast<u32>(std::min(waves, waves_per_wgp * function.device->facts.wgps));
}

// Includes the modelled time, where launches are timed.
static std::pair<sim::RunStats, std::optional<sim::timing::Result>>
run_on(Device &device, const sim::Dispatch &dispatch, Runtime &runtime, LaunchFindings *findings) {
    sim::RunConfig run = device.config.run;
    if (runtime.findings.wanted() && !findings)
        run.checker = nullptr;
    if (device.config.choices)
        run.choices = &*device.config.choices;
    if (!device.timing) {
        run.findings = findings;
        return {sim::run(dispatch, device.memory, device.facts, run), std::nullopt};
    }
    auto watchers = runtime.launch_files.watch(dispatch, device.timing->part(), device.ordinal);
    auto timed =
        device.timing->run(dispatch, device.memory, run, device.config.timing == TimingMode::exact,
                           watchers.empty() ? nullptr : &watchers);
    return {std::move(timed.stats), std::move(timed.result)};
}

static void tell(Runtime &runtime, Device &device, const nlohmann::ordered_json &line) {
    if (runtime.stats.wanted())
        runtime.stats.append(line);
    if (device.config.keeps_stats)
        device.keep_stats(text_of(line));
}

// A timed launch's line and its place in the trace are known when it has ended in modelled time.
static void tell_at_end(Runtime &runtime, Device &device, std::string name,
                        nlohmann::ordered_json line, sim::timing::Command &command) {
    command.on_end = [&runtime, &device, name = std::move(name),
                      line = std::move(line)](const sim::timing::Command &ended) mutable {
        runtime.launch_files.ended(ended, name, device.timing->part(), device.ordinal);
        if (line.empty())
            return;
        line["stream"] = ended.stream;
        line["start_us"] = ended.begin;
        line["end_us"] = ended.end;
        tell(runtime, device, line);
    };
}

namespace {

// Tells the other grids of the launch, also after a fault: what waits for this one waits in vain.
struct GridEnd {
    MultiGrid *grids;
    ~GridEnd() {
        if (grids)
            grids->ended();
    }
};

} // namespace

hipError_t KernelCall::run(sim::timing::Command *command) const noexcept {
    const GridEnd end{grids.get()};
    return guarded(function->kernel->name.c_str(), [&] {
        Runtime &runtime = Runtime::get();
        Device &device = *function->device;
        sim::Dispatch dispatch = dispatch_of(*function, shape);
        dispatch.kernarg = kernarg;
        if (grids)
            dispatch.grid_sync = grids->sync_of(grid);
        imports().refresh();
        const auto findings = runtime.findings.wanted()
                                  ? runtime.findings.begin(function->kernel->name, host)
                                  : nullptr;
        try {
            const LaunchServices services(*device.services, dispatch, live_waves(*function, shape));
            const auto [stats, times] = [&] {
                const ReportedFaults::KernelView view(device.faults);
                return run_on(device, dispatch, runtime, findings.get());
            }();
            if (findings)
                runtime.findings.end(*findings, dispatch);
            estimate::spend(stats, function->kernel->wave_size);
            if (times)
                command->work = sim::timing::kernel_work(device.timing->part(), *times);
            nlohmann::ordered_json line;
            if (runtime.stats.wanted() || device.config.keeps_stats)
                line = launch_json(dispatch, device.facts, stats, times ? &*times : nullptr);
            if (times)
                tell_at_end(runtime, device, function->kernel->name, std::move(line), *command);
            else if (!line.empty())
                tell(runtime, device, line);
            if (findings && findings->failure())
                fail(code_of(*findings->failure()));
        } catch (const sim::Fault &fault) {
            if (findings)
                runtime.findings.end(*findings, dispatch, fault);
            else
                say(fault.what()); // it names the kernel
            if (runtime.reports.wanted())
                runtime.reports.write(fault, function->kernel->name);
            fail(code_of(fault.kind));
        } catch (const sim::Abandoned &) {
            fail(hipErrorDeinitialized); // process exit: no caller is left to report to
        }
    });
}

hipFunction_t function_named(const void *named) {
    require(named != nullptr, hipErrorInvalidDeviceFunction);
    const auto handle = static_cast<hipFunction_t>(const_cast<void *>(named));
    return runtime().functions.find(handle) ? handle : compiled_function(named);
}

hipError_t launch(KernelCall call, hipStream_t handle, hipEvent_t start, hipEvent_t stop) {
    Runtime &runtime = hipsim::runtime();
    const auto stream = runtime.stream(handle, hipErrorInvalidValue);
    require(stream->device == call.function->device->ordinal, hipErrorInvalidHandle);
    const auto record = [&](hipEvent_t event) {
        if (event)
            record_event(runtime.event(event), event, stream);
    };
    record(start);
    hipError_t result = hipSuccess;
    if (runtime.config.launch_blocking && !capturing(*stream)) {
        Device &device = runtime.device_of(*stream);
        const auto commands = commands_of(device, call);
        sim::timing::Command *const command = commands.empty() ? nullptr : commands.front().get();
        result = device.run_now(
            *stream, [&] { return call.run(command); }, commands);
    } else
        enqueue(stream, std::move(call));
    record(stop);
    return result;
}

} // namespace nw::hipsim

// SPDX-License-Identifier: MIT
#include "sim/hip/runtime.h"

#include <atomic>

#include "sim/hip/capture.h"
#include "sim/hip/fatbin.h"

namespace nw::hipsim {

static std::atomic<Runtime *> instance{nullptr};
static std::atomic<bool> ended{false};
static thread_local int current = 0;

Runtime::Runtime()
    : config(read_config()), stats(config.stats_path), reports(config.report_path),
      launch_files(config) {
    for (const sim::Device *facts : config.devices) {
        devices_.push_back(std::make_unique<Device>(device_count(), *facts, config));
        pools.add(devices_.back()->default_pool);
    }
}

Runtime &Runtime::get() {
    if (ended)
        fail(hipErrorDeinitialized);
    static Runtime *const made = [] {
        auto *const runtime = new Runtime;
        publish_managed_variables(*runtime);
        instance = runtime;
        return runtime;
    }();
    return *made;
}

Runtime *Runtime::if_running() { return ended ? nullptr : instance.load(); }

// Threads of ours must not run on while the libraries under them are being torn down.
__attribute__((destructor)) static void at_exit() {
    ended = true;
    sim::abandon();
    if (Runtime *runtime = instance)
        runtime->stop();
}

void Runtime::wait() {
    for (const auto &device : devices_)
        device->wait();
}

void Runtime::stop() {
    for (const auto &device : devices_)
        device->stop();
}

Device &Runtime::device(int ordinal) {
    require(ordinal >= 0 && ordinal < device_count(), hipErrorInvalidDevice);
    return *devices_[ordinal];
}

Device &Runtime::current_device() {
    require(!devices_.empty(), hipErrorNoDevice);
    return *devices_[current];
}

Device *Runtime::device_of(hipCtx_t context) {
    for (const auto &device : devices_)
        if (context_of(*device) == context)
            return device.get();
    return nullptr;
}

int Runtime::current_ordinal() const { return current; }

void Runtime::set_current_device(int ordinal) {
    device(ordinal);
    current = ordinal;
}

namespace {

// The thread's own streams, one per device, until the thread ends.
struct ThreadStreams {
    std::vector<std::shared_ptr<Stream>> by_device;
    ~ThreadStreams() {
        if (Runtime *runtime = Runtime::if_running())
            for (const auto &stream : by_device)
                if (stream) {
                    abandon_capture(*stream);
                    runtime->device_of(*stream).retire(stream);
                }
    }
};

} // namespace

static std::shared_ptr<Stream> thread_stream(Device &device) {
    thread_local ThreadStreams streams;
    auto &slots = streams.by_device;
    if (slots.size() <= static_cast<std::size_t>(device.ordinal))
        slots.resize(device.ordinal + 1);
    if (!slots[device.ordinal])
        slots[device.ordinal] = device.create_stream(hipStreamDefault, 0);
    return slots[device.ordinal];
}

std::shared_ptr<Stream> Runtime::stream(hipStream_t handle) {
    const hipStream_t legacy = reinterpret_cast<hipStream_t>(1); // hipStreamLegacy of HIP 6
    if (!handle || handle == legacy)
        return current_device().null_stream();
    if (handle == hipStreamPerThread)
        return thread_stream(current_device());
    auto stream = streams.find(handle);
    require(stream != nullptr, hipErrorContextIsDestroyed);
    return stream;
}

std::shared_ptr<Event> Runtime::event(hipEvent_t handle) {
    auto event = events.find(handle);
    require(event != nullptr, hipErrorInvalidHandle);
    return event;
}

Runtime &runtime() {
    Runtime &runtime = Runtime::get();
    require(runtime.device_count() > 0, hipErrorNoDevice);
    return runtime;
}

} // namespace nw::hipsim

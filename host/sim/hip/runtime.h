// SPDX-License-Identifier: MIT
// What the entry points share: the devices, the tables of live handles, the current device.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "sim/hip/blocks.h"
#include "sim/hip/config.h"
#include "sim/hip/device.h"
#include "sim/hip/error.h"
#include "sim/hip/handles.h"
#include "sim/hip/launch_files.h"
#include "sim/hip/module.h"
#include "sim/hip/pool.h"
#include "sim/hip/report_file.h"
#include "sim/hip/sharing.h"
#include "sim/hip/stats.h"

namespace nw::hipsim {

class Runtime {
public:
    // Made by the first call that needs it; lives until the process ends, because unordered static
    // destructors of the host still call us then. Fails with hipErrorDeinitialized after that.
    static Runtime &get();
    static Runtime *if_running(); // null before that first call and after the end

    const Config config;
    StatsFile stats;
    ReportFile reports;
    LaunchFiles launch_files;
    Blocks blocks;
    Sharing sharing{*this};
    sim::Memory host_memory; // pinned and managed memory; every device may touch it
    Handles<hipStream_t, Stream> streams;
    Handles<hipEvent_t, Event> events;
    Handles<hipModule_t, Module> modules;
    Handles<hipFunction_t, Function> functions;
    Handles<hipMemPool_t, Pool> pools;

    int device_count() const { return static_cast<int>(devices_.size()); }
    Device &device(int ordinal); // hipErrorInvalidDevice
    Device &current_device();    // the thread's; hipErrorNoDevice
    void set_current_device(int ordinal);
    int current_ordinal() const;

    // A live stream by its handle: null is the current device's null stream, 2 the thread's own.
    std::shared_ptr<Stream> stream(hipStream_t handle); // hipErrorContextIsDestroyed
    std::shared_ptr<Event> event(hipEvent_t handle);    // hipErrorInvalidHandle
    Device &device_of(const Stream &stream) { return *devices_[stream.device]; }
    Device *device_of(hipCtx_t context); // null when it is no context; see context_of

    void wait(); // for all devices: memory that is about to go may be in use by any
    void stop();

private:
    Runtime();
    std::vector<std::unique_ptr<Device>> devices_;
};

// HIP keeps contexts for CUDA's sake: one per device, always there.
inline hipCtx_t context_of(Device &device) { return reinterpret_cast<hipCtx_t>(&device); }

// The runtime with at least one device: what every call but the version queries starts with.
Runtime &runtime();

} // namespace nw::hipsim

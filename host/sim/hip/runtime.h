// SPDX-License-Identifier: MIT
// State shared by the entry points: the devices, the tables of live handles, the current device.
#pragma once
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "sim/hip/config.h"
#include "sim/hip/device/device.h"
#include "sim/hip/error.h"
#include "sim/hip/handles.h"
#include "sim/hip/launch/findings.h"
#include "sim/hip/launch/launch_files.h"
#include "sim/hip/launch/line_file.h"
#include "sim/hip/launch/report_file.h"
#include "sim/hip/memory/blocks.h"
#include "sim/hip/memory/pool.h"
#include "sim/hip/memory/sharing.h"
#include "sim/hip/module/module.h"
#include "sim/hip/texture/array.h"
#include "sim/hip/texture/texture.h"

namespace nw::hipsim {

class Runtime {
    static constexpr int first_opened = 1024; // ordinal; none is used twice

public:
    // Made by the first call that needs it; lives until the process ends, because unordered static
    // destructors of the host still call us then. Fails with hipErrorDeinitialized after that.
    static Runtime &get();
    static Runtime *if_running(); // null before that first call and after the end

    Config config;
    LineFile stats;
    ReportFile reports;
    Findings findings;
    LaunchFiles launch_files;
    Blocks blocks;
    Sharing sharing{*this};
    sim::Memory host_memory; // pinned and managed memory; every device may touch it
    Handles<hipStream_t, Stream> streams;
    Handles<hipEvent_t, Event> events;
    Handles<hipModule_t, Module> modules;
    Handles<hipFunction_t, Function> functions;
    Handles<hipMemPool_t, Pool> pools;
    Handles<const void *, Array> arrays;
    Handles<const void *, Texture> textures; // by the address that kernels get

    int device_count();          // of those that HIPSIM_ARCH names, the only ones that HIP counts
    Device &device(int ordinal); // hipErrorInvalidDevice
    bool has_device(int ordinal);
    bool has_opened() const { return opened_; } // by hipsimOpenDevice
    // The existing devices: those of HIPSIM_ARCH are created by the first call that concerns them.
    std::vector<std::shared_ptr<Device>> devices() const;

    // As hipsimOpenDevice and hipsimCloseDevice: the device's ordinal.
    int open(const std::string &spec, const std::string &defaults, bool own);
    void close(int ordinal);
    void add(std::shared_ptr<Device> device); // for Sharing, who knows what it may touch
    Device &current_device();                 // the thread's; hipErrorNoDevice
    void set_current_device(int ordinal);
    int current_ordinal() const;

    // A live stream by its handle: null is the current device's null stream, 2 the thread's own.
    // `gone` is the code of one that isn't live; a few calls have their own.
    std::shared_ptr<Stream> stream(hipStream_t handle,
                                   hipError_t gone = hipErrorContextIsDestroyed);
    std::shared_ptr<Event> event(hipEvent_t handle); // hipErrorInvalidHandle
    Device &device_of(const Stream &stream) { return device(stream.device); }
    Device *device_of(hipCtx_t context); // null for an unknown context; see context_of

    void wait(); // waits for all devices: memory to be freed may be in use by any
    // The same for memory or code of one device: only that one, if it is private.
    void wait_for_users_of(const Device &device);
    // Runs `body` while none of them runs or begins a command.
    void while_unused(const Device &device, const std::function<void()> &body);
    void stop();
    void report_leaks();         // to `findings`, where these are wanted
    std::string refusal() const; // why there is no device: what HIPSIM_* variables say; else empty

private:
    Runtime();
    void refuse(const std::string &why);
    const std::vector<std::shared_ptr<Device>> &counted(); // makes them
    std::shared_ptr<Device> find_opened(int ordinal) const;
    std::vector<std::shared_ptr<Device>> users_of(const Device &device) const;

    std::once_flag made_counted_;
    std::vector<std::shared_ptr<Device>> counted_; // those of HIPSIM_ARCH, by ordinal
    std::atomic<bool> has_counted_{false};
    mutable std::shared_mutex mutex_; // guards what follows
    std::string refusal_;
    std::map<int, std::shared_ptr<Device>> all_;
    std::map<std::pair<std::string, std::string>, int> by_spec_; // opened, not their own
    int next_ordinal_ = first_opened;
    std::atomic<bool> opened_{false};
};

// HIP keeps contexts for CUDA compatibility: one per device, always present.
inline hipCtx_t context_of(Device &device) { return reinterpret_cast<hipCtx_t>(&device); }

// The runtime with at least one device: called first by everything except the version queries.
Runtime &runtime();

} // namespace nw::hipsim

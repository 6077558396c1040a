// SPDX-License-Identifier: MIT
// The services of one launch: fills in those hidden arguments that its kernel lists, and answers
// its waves.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "sim/func/machine.h"
#include "sim/hip/services/device_services.h"
#include "sim/hip/services/messages.h"
#include "sim/hip/services/printf_buffer.h"

namespace nw::hipsim {

class LaunchServices final : private sim::HostServices {
public:
    // `dispatch` gets the services and, if the kernel lists any, another kernarg block. If it has a
    // grid_sync already, the kernel gets that one.
    LaunchServices(DeviceServices &device, sim::Dispatch &dispatch, u32 live_waves);
    // Prints what the launch left to print, also after a fault.
    ~LaunchServices() override;

private:
    void serve(const sim::Wave &, const sim::Inst &) override;
    void answer(const sim::Wave &, const sim::Inst &, const HostcallRequest &);
    u64 value_of(const sim::Arg &, const sim::Dispatch &, u32 live_waves);
    u64 make_grid_sync(const sim::Dispatch &);

    DeviceServices &device_;
    const sim::Program &program_;
    std::vector<std::byte> kernarg_;
    std::unique_ptr<Hostcall> hostcall_;
    std::unique_ptr<PrintfBuffer> printf_;
    void *grid_sync_ = nullptr;
    std::mutex mutex_; // guards what follows
    Messages messages_;
    bool damaged_ = false; // the hostcall buffer, by a fault
    bool printed_ = false;
};

} // namespace nw::hipsim

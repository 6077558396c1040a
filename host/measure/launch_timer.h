// SPDX-License-Identifier: MIT
#pragma once
#include <functional>

#include "hip/hip.h"
#include "runtime/kernel.h"

namespace nw {

// Times launches, one after the other.
class LaunchTimer {
public:
    // `launched` is called after each.
    LaunchTimer(const hip::Device &device, const std::function<void(const Kernel &)> &launched)
        : device_(device), launched_(launched), start_(device.event()), stop_(device.event()) {}

    // Microseconds of what `queue` queues, a launch of the kernel; waits for it.
    template <class Queue> f64 us(const Kernel &kernel, const Queue &queue) const {
        device_.record(start_);
        queue();
        device_.record(stop_);
        device_.synchronize();
        if (launched_)
            launched_(kernel);
        return 1000 * f64{device_.elapsed_ms(start_, stop_)};
    }

private:
    const hip::Device &device_;
    const std::function<void(const Kernel &)> &launched_;
    const hip::Event start_, stop_;
};

} // namespace nw

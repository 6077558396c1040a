// SPDX-License-Identifier: MIT
// Keeps a device full of other waves while kernels are checked: they issue between the waves of the
// kernel that is checked, so each finds its own results later or earlier than alone.
#pragma once
#include <atomic>
#include <thread>

#include "runtime/launch.h"

namespace nw::check {

class Crowd {
public:
    explicit Crowd(const hip::Device &);
    ~Crowd();
    Crowd(const Crowd &) = delete;

private:
    void run();

    const hip::Device &device_;
    Modules modules_;
    hip::Stream stream_;
    hip::Buffer rows_, order_;
    Op op_; // a launch whose workgroups fill the device several times
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

} // namespace nw::check

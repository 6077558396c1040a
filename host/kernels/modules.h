// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <string_view>

#include "hip/hip.h"
#include "kernels/registry.h"

namespace nw {

// The code objects loaded on one device, each loaded at its first use. Keep it as long as work of
// its kernels is queued.
class Modules {
public:
    explicit Modules(const hip::Device &device) : device_(device) {}
    // Throws Error where the kernel is for another gfx than the device's or its file is unusable,
    // hip::Error where the runtime refuses it.
    const hip::Function &function(const Kernel &);
    const hip::Device &device() const { return device_; }

private:
    struct Loaded {
        hip::Module module;
        hip::Function function;
    };
    const hip::Device &device_;
    std::map<std::string_view, Loaded> loaded_;
};

} // namespace nw

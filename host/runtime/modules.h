// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "hip/hip.h"
#include "runtime/kernel.h"

namespace nw {

// The code objects loaded on one device, each loaded at its first use. Any number of threads may
// use it. Keep it as long as work of its kernels is queued.
class Modules {
public:
    // `directory` has the code objects (find_code_object).
    explicit Modules(const hip::Device &device, std::filesystem::path directory = {})
        : device_(device), directory_(std::move(directory)) {}
    // Throws Error if the kernel's gfx is not the device's or its file is unusable, hip::Error if
    // the runtime rejects it.
    const hip::Function &function(const Kernel &);
    // Null where it was not loaded yet.
    const hip::Function *loaded(const Kernel &) const;
    const hip::Device &device() const { return device_; }

private:
    struct Loaded {
        hip::Module module;
        hip::Function function;
    };
    Loaded load(const Kernel &) const;

    const hip::Device &device_;
    const std::filesystem::path directory_;
    std::mutex loading_;               // one thread loads while others launch loaded kernels
    mutable std::shared_mutex access_; // to loaded_, whose entries stay where they are
    // Keyed by the address of the symbol's text: it is static, and comparing names costs time.
    std::unordered_map<const char *, Loaded> loaded_;
};

} // namespace nw

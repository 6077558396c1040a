// SPDX-License-Identifier: MIT
// A code object on one device, and its kernels.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/hip/headers.h"
#include "sim/hip/module/image.h"
#include "sim/isa/image/program.h"

namespace nw::hipsim {

class Device;

// Target of hipFunction_t; lives as long as its module.
struct Function {
    std::shared_ptr<const sim::Program> program;
    const sim::KernelInfo *kernel = nullptr;
    Device *device = nullptr;
    std::atomic<bool> warned{false}; // that it has no .args; see kernarg.h
};

class Module {
public:
    // Also registers the module's variables for kernels and hipMemcpy.
    // `managed`: also makes memory for its __managed__ variables, which the host knows by name
    // only.
    Module(Device &device, const sim::ByteSource &image, bool managed = true);
    ~Module();
    Module(const Module &) = delete;

    Device &device;
    const std::shared_ptr<const sim::Program> program;
    hipFunction_t function(std::string_view name) const; // null when absent
    std::optional<sim::Global> variable(std::string_view name) const;

private:
    void make_managed();

    const std::shared_ptr<void> image_; // in the device's memory

    std::vector<sim::Global> managed_;     // where the memory is that a variable's name means
    std::vector<hipFunction_t> functions_; // in the order of program->kernels()
};

// The live module of a handle; fails with hipErrorInvalidHandle.
std::shared_ptr<Module> find_module(hipModule_t handle);

// The live function of a handle; fails with hipErrorInvalidHandle.
std::shared_ptr<Function> find_function(hipFunction_t handle);

} // namespace nw::hipsim

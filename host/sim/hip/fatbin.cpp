// SPDX-License-Identifier: MIT
#include "sim/hip/fatbin.h"

#include <fmt/format.h>

#include <map>

#include "sim/hip/launch.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

namespace {

struct FatBinary {
    const void *wrapper;
    std::map<int, std::shared_ptr<Module>> by_device;
};

struct Registered {
    FatBinary *binary;
    std::string name; // of the kernel or variable in the code object
};

// Filled before main, without touching the environment or a device.
struct Registry {
    std::mutex mutex;
    std::map<void **, std::unique_ptr<FatBinary>> binaries;
    std::map<const void *, Registered> functions, variables; // by host address
};

Registry &registry() {
    static Registry *const made = new Registry; // outlives the programs' own destructors
    return *made;
}

} // namespace

// The registry's lock must be held.
static Module &loaded_module(FatBinary &binary, Device &device) {
    auto found = binary.by_device.find(device.ordinal);
    if (found == binary.by_device.end()) {
        auto module = std::make_shared<Module>(device, Source(binary.wrapper)); // may throw
        found = binary.by_device.emplace(device.ordinal, std::move(module)).first;
    }
    return *found->second;
}

hipFunction_t compiled_function(const void *host_function) {
    Device &device = runtime().current_device();
    const std::lock_guard lock(registry().mutex);
    const auto found = registry().functions.find(host_function);
    require(found != registry().functions.end(), hipErrorInvalidDeviceFunction);
    const auto &[binary, name] = found->second;
    const hipFunction_t function = loaded_module(*binary, device).function(name);
    if (!function)
        fail(hipErrorInvalidDeviceFunction,
             fmt::format("{} is not in the fat binary's code for {}", name, device.facts.gfx));
    return function;
}

static sim::Global compiled_variable(const void *host_variable) {
    Device &device = runtime().current_device();
    const std::lock_guard lock(registry().mutex);
    const auto found = registry().variables.find(host_variable);
    require(found != registry().variables.end(), hipErrorInvalidSymbol);
    const auto &[binary, name] = found->second;
    const sim::Global *global = loaded_module(*binary, device).program->find_global(name);
    require(global != nullptr, hipErrorInvalidSymbol);
    return *global;
}

namespace {

struct PendingLaunch {
    LaunchShape shape;
    hipStream_t stream;
};

// What <<<...>>> pushes and the stub pops; launches nest when an argument launches, too.
std::vector<PendingLaunch> &pending_launches() {
    thread_local std::vector<PendingLaunch> pending;
    return pending;
}

} // namespace

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

void **__hipRegisterFatBinary(const void *wrapper) {
    auto binary = std::make_unique<FatBinary>(wrapper);
    void **const handle = reinterpret_cast<void **>(binary.get());
    const std::lock_guard lock(registry().mutex);
    registry().binaries[handle] = std::move(binary);
    return handle;
}

void __hipRegisterFunction(void **binary, const void *host_function, char *, const char *name,
                           unsigned, void *, void *, void *, void *, int *) {
    const std::lock_guard lock(registry().mutex);
    registry().functions[host_function] = {reinterpret_cast<FatBinary *>(binary), name};
}

void __hipRegisterVar(void **binary, void *host_variable, char *, char *name, int, size_t, int,
                      int) {
    const std::lock_guard lock(registry().mutex);
    registry().variables[host_variable] = {reinterpret_cast<FatBinary *>(binary), name};
}

void __hipUnregisterFatBinary(void **handle) {
    static_cast<void>(guarded(__func__, [&] {
        const std::lock_guard lock(registry().mutex);
        const auto found = registry().binaries.find(handle);
        if (found == registry().binaries.end())
            return;
        FatBinary *const binary = found->second.get();
        const auto ours = [&](const auto &entry) { return entry.second.binary == binary; };
        std::erase_if(registry().functions, ours);
        std::erase_if(registry().variables, ours);
        for (const auto &[ordinal, module] : binary->by_device)
            module->device.wait(); // its kernels may still run
        registry().binaries.erase(found);
    }));
}
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_lds,
                                      hipStream_t stream) {
    return guarded(__func__, [&] {
        pending_launches().push_back({{grid, block, dynamic_lds}, stream});
    });
}

hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_lds,
                                     hipStream_t *stream) {
    return guarded(__func__, [&] {
        require(!pending_launches().empty(), hipErrorMissingConfiguration);
        const PendingLaunch launch = pending_launches().back();
        pending_launches().pop_back();
        *grid = launch.shape.grid;
        *block = launch.shape.block;
        *dynamic_lds = launch.shape.dynamic_lds;
        *stream = launch.stream;
    });
}

hipError_t hipLaunchKernel(const void *host_function, dim3 grid, dim3 block, void **args,
                           size_t dynamic_lds, hipStream_t stream) {
    return api(__func__, [&] {
        return launch(compiled_function(host_function), {grid, block, dynamic_lds}, stream, args,
                      nullptr);
    });
}

hipError_t hipGetSymbolAddress(void **address, const void *symbol) {
    return api(__func__, [&] {
        runtime();
        require(address != nullptr, hipErrorInvalidValue);
        *address = reinterpret_cast<void *>(compiled_variable(symbol).address);
    });
}

hipError_t hipGetSymbolSize(size_t *bytes, const void *symbol) {
    return api(__func__, [&] {
        runtime();
        require(bytes != nullptr, hipErrorInvalidValue);
        *bytes = compiled_variable(symbol).size;
    });
}

// SPDX-License-Identifier: MIT
#include "sim/hip/module/fatbin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "sim/hip/launch/kernel_call.h"
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

// __managed__: host code accesses it through a pointer that we set, device code through a pointer
// in the code object.
struct ManagedVariable {
    FatBinary *binary;
    std::string name; // of the device's pointer
    std::unique_ptr<void, decltype(&std::free)> memory{nullptr, &std::free};
    u64 bytes;

    Block block() const {
        return {.begin = reinterpret_cast<u64>(memory.get()),
                .size = bytes,
                .kind = Block::Kind::managed,
                .borrowed = true};
    }
};

// Filled before main, without touching the environment or a device.
struct Registry {
    std::mutex mutex;
    std::map<void **, std::unique_ptr<FatBinary>> binaries;
    std::map<const void *, Registered> functions, variables; // by host address
    std::vector<ManagedVariable> managed;
};

Registry &registry() {
    static Registry *const made = new Registry; // outlives the programs' own destructors
    return *made;
}

} // namespace

static void set_device_pointer(const Module &module, const ManagedVariable &variable) {
    const sim::Global *const pointer = module.program->find_global(variable.name);
    void *const value = variable.memory.get();
    if (pointer && pointer->size == sizeof value)
        std::memcpy(reinterpret_cast<void *>(pointer->address), &value, sizeof value);
}

void publish_managed_variables(Runtime &runtime) {
    const std::lock_guard lock(registry().mutex);
    for (const ManagedVariable &variable : registry().managed)
        runtime.sharing.publish(variable.block());
}

// The registry's lock must be held.
static Module &loaded_module(FatBinary &binary, Device &device) {
    auto found = binary.by_device.find(device.ordinal);
    if (found == binary.by_device.end()) {
        auto module =
            std::make_shared<Module>(device, PointerSource(binary.wrapper), false); // may throw
        for (const ManagedVariable &variable : registry().managed)
            if (variable.binary == &binary)
                set_device_pointer(*module, variable);
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

sim::Global compiled_variable(const void *host_variable) {
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

// The binary behind a handle of ours; for anything else null, with a message. The registry's lock
// must be held.
FatBinary *registered(const char *call, void *handle, const char *name) {
    const auto found = registry().binaries.find(static_cast<void **>(handle));
    if (found != registry().binaries.end() && name)
        return found->second.get();
    say(fmt::format("{}: {}", call, name ? "no binary of this handle" : "no name"));
    return nullptr;
}

} // namespace

std::vector<PendingLaunch> &pending_launches() {
    thread_local std::vector<PendingLaunch> pending;
    return pending;
}

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
    if (FatBinary *const known = registered(__func__, binary, name))
        registry().functions[host_function] = {known, name};
}

void __hipRegisterVar(void **binary, void *host_variable, char *, char *name, int, size_t, int,
                      int) {
    const std::lock_guard lock(registry().mutex);
    if (FatBinary *const known = registered(__func__, binary, name))
        registry().variables[host_variable] = {known, name};
}

// `variable` is a textureReference; textures and their references are not apart for the loader.
void __hipRegisterTexture(void **binary, void *variable, char *name, char *device_name, int, int,
                          int) {
    __hipRegisterVar(binary, variable, name, device_name, 0, sizeof(textureReference), 0, 0);
}

void __hipRegisterManagedVar(void *binary, void **pointer, void *initial, const char *name,
                             size_t bytes, unsigned alignment) {
    const std::lock_guard lock(registry().mutex);
    FatBinary *const known = registered(__func__, binary, name);
    if (!known || !pointer || (!initial && bytes))
        return;
    const size_t step = std::max<size_t>(alignment, 256);
    void *const memory = std::aligned_alloc(step, round_up(std::max<size_t>(bytes, 1), step));
    if (!memory)
        return say("__hipRegisterManagedVar: out of memory");
    if (bytes)
        std::memcpy(memory, initial, bytes);
    *pointer = memory;
    auto &variable = registry().managed.emplace_back();
    variable.binary = known;
    variable.name = name;
    variable.memory.reset(memory);
    variable.bytes = bytes;
    if (Runtime *const runtime = Runtime::if_running()) // a library that was opened late
        runtime->sharing.publish(variable.block());
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
        if (Runtime *const runtime = Runtime::if_running())
            for (const ManagedVariable &variable : registry().managed)
                if (variable.binary == binary)
                    runtime->sharing.withdraw(variable.block());
        std::erase_if(registry().managed, [&](const auto &v) { return v.binary == binary; });
        registry().binaries.erase(found);
    }));
}
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_lds,
                                      hipStream_t stream) {
    return guarded(__func__, [&] {
        pending_launches().push_back({{grid, block, dynamic_lds}, stream, {}});
    });
}

hipError_t __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_lds,
                                     hipStream_t *stream) {
    return guarded(__func__, [&] {
        require(grid && block && dynamic_lds && stream, hipErrorInvalidValue);
        require(!pending_launches().empty(), hipErrorMissingConfiguration);
        const PendingLaunch launch = pending_launches().back();
        pending_launches().pop_back();
        *grid = launch.shape.grid;
        *block = launch.shape.block;
        *dynamic_lds = launch.shape.dynamic_lds;
        *stream = launch.stream;
    });
}

// SPDX-License-Identifier: MIT
#include "sim/hip/module/module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "sim/hip/memory/allocate.h"
#include "sim/hip/module/programs.h"
#include "sim/hip/read_file.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

Module::Module(Device &device, const sim::ByteSource &image, bool managed)
    : device(device), program(load_program(device, code_object(image, device.facts.gfx))),
      image_(adopt_image(device, program)) {
    Runtime &runtime = Runtime::get();
    for (const sim::Global &global : program->globals())
        if (global.size > 0)
            runtime.sharing.publish({.begin = global.address,
                                     .size = global.size,
                                     .kind = Block::Kind::global,
                                     .device = device.ordinal});
    if (managed)
        make_managed();
    for (const sim::KernelInfo &kernel : program->kernels()) {
        auto function = std::make_shared<Function>();
        function->program = program;
        function->kernel = &kernel;
        function->device = &device;
        functions_.push_back(runtime.functions.add(std::move(function)));
    }
}

// __managed__ x: the code object has the pointer x, and its value at the start as x.managed.
void Module::make_managed() {
    constexpr std::string_view suffix = ".managed";
    for (const sim::Global &initial : program->globals()) {
        if (!initial.name.ends_with(suffix))
            continue;
        const std::string name = initial.name.substr(0, initial.name.size() - suffix.size());
        const sim::Global *const pointer = program->find_global(name);
        if (!pointer || pointer->size != sizeof(void *))
            continue;
        void *const memory =
            allocate_shared(initial.size, Block::Kind::managed, hipMemAttachGlobal);
        std::memcpy(memory, reinterpret_cast<const void *>(initial.address), initial.size);
        std::memcpy(reinterpret_cast<void *>(pointer->address), &memory, sizeof memory);
        managed_.push_back({name, reinterpret_cast<u64>(memory), initial.size});
    }
}

Module::~Module() {
    Runtime *const runtime = Runtime::if_running();
    if (!runtime) // the process is ending: the tables are no longer read
        return;
    for (const hipFunction_t function : functions_)
        runtime->functions.remove(function);
    for (const sim::Global &global : program->globals())
        if (const auto block = runtime->blocks.find(global.address))
            runtime->sharing.withdraw(*block);
    for (const sim::Global &variable : managed_)
        if (const auto block = runtime->blocks.find(variable.address);
            block && runtime->blocks.remove(variable.address))
            release_storage(*block);
}

std::optional<sim::Global> Module::variable(std::string_view name) const {
    if (const auto at = std::ranges::find(managed_, name, &sim::Global::name); at != managed_.end())
        return *at;
    const sim::Global *const global = program->find_global(name);
    return global ? std::optional(*global) : std::nullopt;
}

hipFunction_t Module::function(std::string_view name) const {
    const sim::KernelInfo *kernel = program->find_kernel(name);
    return kernel ? functions_[kernel - program->kernels().data()] : nullptr;
}

std::shared_ptr<Function> find_function(hipFunction_t handle) {
    auto function = Runtime::get().functions.find(handle);
    require(function != nullptr, hipErrorInvalidHandle);
    return function;
}

std::vector<std::byte> read_file(const char *path) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    if (error || !file)
        fail(hipErrorFileNotFound,
             fmt::format("{}: {}", path, error ? error.message() : std::strerror(errno)));
    std::vector<std::byte> image(bytes);
    file.read(reinterpret_cast<char *>(image.data()), static_cast<std::streamsize>(bytes));
    if (static_cast<std::size_t>(file.gcount()) != bytes)
        fail(hipErrorFileNotFound,
             fmt::format("{}: read {} of {} bytes", path, file.gcount(), bytes));
    return image;
}

static hipModule_t load(const sim::ByteSource &image) {
    Runtime &runtime = hipsim::runtime();
    return runtime.modules.add(std::make_shared<Module>(runtime.current_device(), image));
}

std::shared_ptr<Module> find_module(hipModule_t handle) {
    auto module = runtime().modules.find(handle);
    require(module != nullptr, hipErrorInvalidHandle);
    return module;
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

hipError_t hipModuleLoad(hipModule_t *module, const char *path) {
    return api(__func__, [&] {
        runtime();
        require(module && path && *path, hipErrorInvalidValue);
        const auto image = read_file(path);
        try {
            *module = load(sim::SpanSource(image));
        } catch (Failure &failure) {
            failure.text = fmt::format("{}: {}", path, failure.text);
            throw;
        }
    });
}

hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
    return api(__func__, [&] {
        runtime();
        require(module && image, hipErrorInvalidValue);
        *module = load(PointerSource(image));
    });
}

// The options steer a just-in-time compiler; a code object needs none.
hipError_t hipModuleLoadDataEx(hipModule_t *module, const void *image, unsigned, hipJitOption *,
                               void **) {
    return api(__func__, [&] {
        runtime();
        require(module && image, hipErrorInvalidValue);
        *module = load(PointerSource(image));
    });
}

hipError_t hipModuleUnload(hipModule_t handle) {
    return api(__func__, [&] {
        require(handle != nullptr, hipErrorInvalidHandle);
        const auto module = runtime().modules.find(handle);
        require(module != nullptr, hipErrorNotFound);
        runtime().wait_for_users_of(module->device); // its kernels may still run
        runtime().modules.remove(handle);
    });
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module, const char *name) {
    return api(__func__, [&] {
        runtime();
        require(function && name && *name, hipErrorInvalidValue);
        const hipFunction_t found = find_module(module)->function(name);
        require(found != nullptr, hipErrorNotFound);
        *function = found;
    });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t *address, size_t *bytes, hipModule_t module,
                              const char *name) {
    return api(__func__, [&] {
        runtime();
        require((address || bytes) && name && *name, hipErrorInvalidValue);
        const auto global = find_module(module)->variable(name);
        require(global.has_value(), hipErrorNotFound);
        if (address)
            *address = reinterpret_cast<hipDeviceptr_t>(global->address);
        if (bytes)
            *bytes = global->size;
    });
}

// Newer than the oldest headers that we build with.
extern "C" {

hipError_t hipModuleLoadFatBinary(hipModule_t *module, const void *fat_binary) {
    return api(__func__, [&] {
        runtime();
        require(module && fat_binary, hipErrorInvalidValue);
        *module = load(PointerSource(fat_binary));
    });
}

hipError_t hipModuleGetFunctionCount(unsigned *count, hipModule_t module) {
    return api(__func__, [&] {
        runtime();
        require(count != nullptr, hipErrorInvalidValue);
        *count = static_cast<unsigned>(find_module(module)->program->kernels().size());
    });
}
}

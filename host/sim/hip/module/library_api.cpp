// SPDX-License-Identifier: MIT
// Libraries: modules without a device until one of their kernels is requested. Since HIP 7.2.
#include <algorithm>
#include <map>

#include "sim/hip/read_file.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

namespace {

struct Library {
    std::vector<std::byte> image; // for LoadFromFile
    const void *pointer = nullptr;
    std::mutex mutex; // guards what follows
    std::map<int, std::shared_ptr<Module>> by_device;

    Module &on(Device &device) {
        const std::lock_guard lock(mutex);
        auto &module = by_device[device.ordinal];
        if (!module)
            module = pointer ? std::make_shared<Module>(device, PointerSource(pointer))
                             : std::make_shared<Module>(device, sim::SpanSource(image));
        return *module;
    }
    bool holds(const Function &function) {
        const std::lock_guard lock(mutex);
        return std::ranges::any_of(
            by_device, [&](const auto &each) { return each.second->program == function.program; });
    }
};

Handles<Library *, Library> &libraries() {
    static auto *const made = new Handles<Library *, Library>;
    return *made;
}

std::shared_ptr<Library> find_library(Library *handle) {
    auto library = libraries().find(handle);
    require(library != nullptr, hipErrorInvalidHandle);
    return library;
}

} // namespace

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

// There is no just-in-time compiler to give options to; those of the library are about CUDA's.
hipError_t load_data(Library **library, const void *image, void *, void **, unsigned jit_options,
                     void *, void **, unsigned library_options) asm("hipLibraryLoadData");
hipError_t load_data(Library **library, const void *image, void *, void **, unsigned jit_options,
                     void *, void **, unsigned) {
    return api("hipLibraryLoadData", [&] {
        runtime();
        require(library && image && jit_options == 0, hipErrorInvalidValue);
        auto made = std::make_shared<Library>();
        made->pointer = image;
        made->on(runtime().current_device()); // reports errors of the image now
        *library = libraries().add(std::move(made));
    });
}

hipError_t load_file(Library **library, const char *path, void *, void **, unsigned jit_options,
                     void *, void **, unsigned library_options) asm("hipLibraryLoadFromFile");
hipError_t load_file(Library **library, const char *path, void *, void **, unsigned jit_options,
                     void *, void **, unsigned) {
    return api("hipLibraryLoadFromFile", [&] {
        runtime();
        require(library && path && jit_options == 0, hipErrorInvalidValue);
        auto made = std::make_shared<Library>();
        made->image = read_file(path);
        made->on(runtime().current_device());
        *library = libraries().add(std::move(made));
    });
}

hipError_t unload(Library *library) asm("hipLibraryUnload");
hipError_t unload(Library *handle) {
    return api("hipLibraryUnload", [&] {
        const auto library = find_library(handle);
        runtime().wait(); // its kernels may still run
        require(libraries().remove(handle) != nullptr, hipErrorInvalidHandle);
    });
}

// hipKernel_t can be used as a hipFunction_t, for the device that is current at this call.
hipError_t get_kernel(hipFunction_t *kernel, Library *library,
                      const char *name) asm("hipLibraryGetKernel");
hipError_t get_kernel(hipFunction_t *kernel, Library *handle, const char *name) {
    return api("hipLibraryGetKernel", [&] {
        runtime();
        require(kernel && name && *name, hipErrorInvalidValue);
        const hipFunction_t found =
            find_library(handle)->on(runtime().current_device()).function(name);
        require(found != nullptr, hipErrorNotFound);
        *kernel = found;
    });
}

hipError_t get_kernel_count(unsigned *count, Library *library) asm("hipLibraryGetKernelCount");
hipError_t get_kernel_count(unsigned *count, Library *handle) {
    return api("hipLibraryGetKernelCount", [&] {
        runtime();
        require(count != nullptr, hipErrorInvalidValue);
        const Module &module = find_library(handle)->on(runtime().current_device());
        *count = static_cast<unsigned>(module.program->kernels().size());
    });
}

hipError_t enumerate_kernels(hipFunction_t *kernels, unsigned count,
                             Library *library) asm("hipLibraryEnumerateKernels");
hipError_t enumerate_kernels(hipFunction_t *kernels, unsigned count, Library *handle) {
    return api("hipLibraryEnumerateKernels", [&] {
        runtime();
        require(kernels && count > 0, hipErrorInvalidValue);
        const Module &module = find_library(handle)->on(runtime().current_device());
        const auto &all = module.program->kernels();
        for (size_t n = 0; n < std::min<size_t>(count, all.size()); ++n)
            kernels[n] = module.function(all[n].name);
    });
}

hipError_t library_of_kernel(Library **library, hipFunction_t kernel) asm("hipKernelGetLibrary");
hipError_t library_of_kernel(Library **library, hipFunction_t kernel) {
    return api("hipKernelGetLibrary", [&] {
        runtime();
        require(library != nullptr, hipErrorInvalidValue);
        const auto function = find_function(kernel);
        *library = libraries().find_if([&](Library &each) { return each.holds(*function); });
        require(*library != nullptr, hipErrorInvalidHandle); // it is a module's
    });
}

hipError_t name_of_kernel(const char **name, hipFunction_t kernel) asm("hipKernelGetName");
hipError_t name_of_kernel(const char **name, hipFunction_t kernel) {
    return api("hipKernelGetName", [&] {
        runtime();
        require(name != nullptr, hipErrorInvalidValue);
        *name = find_function(kernel)->kernel->name.c_str(); // the library keeps it
    });
}
}

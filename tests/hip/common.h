// SPDX-License-Identifier: MIT
// Shared by the tests of the simulated HIP runtime. They call it as any host does: through AMD's
// headers and the library's exported names.
#pragma once
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include "base/hipsim.h"

#define OK(call) REQUIRE_EQ(std::string(hipGetErrorName(call)), "hipSuccess")
#define FAILS(call, code) CHECK_EQ(std::string(hipGetErrorName(call)), #code)

namespace hip_test {

// The test kernels (kernels/basic.s) for `gfx`.
std::string code_path(const std::string &gfx = "gfx1151");
std::vector<std::byte> code_bytes(const std::string &gfx = "gfx1151");

// A file that goes with the object.
struct ScratchFile {
    explicit ScratchFile(const std::vector<std::byte> &contents);
    ~ScratchFile();
    ScratchFile(const ScratchFile &) = delete;
    const std::string path;
};

// Everything that reaches stderr while it lives.
class CapturedStderr {
public:
    CapturedStderr();
    ~CapturedStderr();
    std::string text(); // so far

private:
    int saved_, file_;
};

// A module of basic.s on the current device, unloaded at the end.
struct Code {
    Code();
    ~Code();
    hipModule_t module = nullptr;
    hipFunction_t operator[](const char *name) const;
};

// Device memory of `count` ints, filled with `value`.
struct Ints {
    explicit Ints(std::size_t count, int value = 0);
    ~Ints();
    Ints(const Ints &) = delete;
    std::vector<int> get() const;
    int *data = nullptr;
    std::size_t count;
};

// One workgroup of `block` work-items; `params` as hipModuleLaunchKernel takes them.
template <class... Args>
hipError_t launch(hipFunction_t function, unsigned block, hipStream_t stream, Args... args) {
    void *params[] = {&args..., nullptr};
    return hipModuleLaunchKernel(function, 1, 1, 1, block, 1, 1, 0, stream, params, nullptr);
}

struct OwnStream {
    explicit OwnStream(unsigned flags = hipStreamDefault) {
        OK(hipStreamCreateWithFlags(&handle, flags));
    }
    ~OwnStream() { static_cast<void>(hipStreamDestroy(handle)); }
    operator hipStream_t() const { return handle; }
    hipStream_t handle = nullptr;
};

// The current device is one of its own, with these settings.
struct OwnDevice {
    explicit OwnDevice(const std::string &spec) : gfx(spec.substr(0, spec.find('?'))) {
        REQUIRE_EQ(hipsimOpenDevice(spec.c_str(), nullptr, 1, &ordinal), 0);
        OK(hipSetDevice(ordinal));
    }
    ~OwnDevice() {
        static_cast<void>(hipSetDevice(0));
        hipsimCloseDevice(ordinal);
    }
    const std::string gfx;
    int ordinal = 0;
};

struct OwnEvent {
    explicit OwnEvent(unsigned flags = hipEventDefault) {
        OK(hipEventCreateWithFlags(&handle, flags));
    }
    ~OwnEvent() { static_cast<void>(hipEventDestroy(handle)); }
    operator hipEvent_t() const { return handle; }
    hipEvent_t handle = nullptr;
};

// A kernel that holds its stream until release(), then adds 1 to `word`.
struct Held {
    Held(const Code &code, hipStream_t stream, int *word) {
        OK(hipHostMalloc(reinterpret_cast<void **>(&flag), sizeof *flag, hipHostMallocMapped));
        *flag = 0;
        OK(launch(code["hold"], 1, stream, word, flag));
    }
    ~Held() {
        release();
        static_cast<void>(hipHostFree(flag)); // waits for the kernel
    }
    void release() { std::atomic_ref<int>{ *flag} = 1; }
    int *flag = nullptr;
};

} // namespace hip_test

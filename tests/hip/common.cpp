// SPDX-License-Identifier: MIT
#include "hip/common.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hip_test {

namespace {

// Before the runtime's first call, which reads it: two devices, whatever the caller's environment
// says.
[[maybe_unused]] const bool environment_set = [] {
    setenv("HIPSIM_ARCH", "gfx1151,gfx1100", 1);
    for (const char *name : {"HIPSIM_CHECK", "HIPSIM_STATS", "HIP_LAUNCH_BLOCKING"})
        unsetenv(name);
    return true;
}();

} // namespace

std::string code_path(const std::string &gfx) {
    return NW_BUILD_DIR "/tests/hip/code/basic_" + gfx + ".hsaco";
}

std::vector<std::byte> code_bytes(const std::string &gfx) {
    std::ifstream file(code_path(gfx), std::ios::binary);
    REQUIRE_MESSAGE(file, code_path(gfx));
    std::vector<std::byte> bytes(std::filesystem::file_size(code_path(gfx)));
    file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

static std::string scratch_path() {
    const auto folder = std::filesystem::path(NW_BUILD_DIR) / "tests/hip/scratch";
    std::filesystem::create_directories(folder);
    return (folder / std::to_string(getpid())).string(); // several processes may run at once
}

ScratchFile::ScratchFile(const std::vector<std::byte> &contents) : path(scratch_path()) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(contents.data()),
               static_cast<std::streamsize>(contents.size()));
}

ScratchFile::~ScratchFile() { std::filesystem::remove(path); }

CapturedStderr::CapturedStderr() : saved_(dup(2)) {
    char name[] = "/tmp/hip_test_XXXXXX";
    file_ = mkstemp(name);
    unlink(name);
    std::fflush(stderr);
    dup2(file_, 2);
}

CapturedStderr::~CapturedStderr() {
    dup2(saved_, 2);
    close(saved_);
    close(file_);
}

std::string CapturedStderr::text() {
    std::string all(1 << 16, '\0');
    const ssize_t bytes = pread(file_, all.data(), all.size(), 0);
    all.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    return all;
}

static std::string current_gfx() {
    int ordinal = 0;
    OK(hipGetDevice(&ordinal));
    hipDeviceProp_t properties{};
    OK(hipGetDeviceProperties(&properties, ordinal));
    return properties.gcnArchName;
}

Code::Code() { OK(hipModuleLoad(&module, code_path(current_gfx()).c_str())); }
Code::~Code() { static_cast<void>(hipModuleUnload(module)); }

hipFunction_t Code::operator[](const char *name) const {
    hipFunction_t function = nullptr;
    OK(hipModuleGetFunction(&function, module, name));
    return function;
}

Ints::Ints(std::size_t count, int value) : count(count) {
    OK(hipMalloc(reinterpret_cast<void **>(&data), count * sizeof(int)));
    OK(hipMemsetD32(data, value, count));
}

Ints::~Ints() { static_cast<void>(hipFree(data)); }

std::vector<int> Ints::get() const {
    std::vector<int> values(count);
    OK(hipMemcpy(values.data(), data, count * sizeof(int), hipMemcpyDeviceToHost));
    return values;
}

} // namespace hip_test

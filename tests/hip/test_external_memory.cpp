// SPDX-License-Identifier: MIT
// External memory by POSIX descriptors.
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "hip/common.h"

using namespace hip_test;

namespace {

constexpr std::size_t bytes = 8192;

// A memory file, mapped by its maker, too.
struct MemoryFile {
    MemoryFile() : descriptor(memfd_create("external", MFD_CLOEXEC)) {
        REQUIRE_EQ(ftruncate(descriptor, bytes), 0);
        data = static_cast<int *>(
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0));
    }
    ~MemoryFile() { munmap(data, bytes); } // the descriptor is the importer's
    MemoryFile(const MemoryFile &) = delete;
    hipExternalMemoryHandleDesc desc() const {
        hipExternalMemoryHandleDesc d{};
        d.type = hipExternalMemoryHandleTypeOpaqueFd;
        d.handle.fd = descriptor;
        d.size = bytes;
        return d;
    }
    const int descriptor;
    int *data = nullptr;
};

} // namespace

TEST_CASE("kernels and copies use memory that came in by a descriptor") {
    const Code code;
    MemoryFile file;
    file.data[0] = 41;
    file.data[1024] = 7;
    const hipExternalMemoryHandleDesc desc = file.desc();
    hipExternalMemory_t memory = nullptr;
    OK(hipImportExternalMemory(&memory, &desc));
    void *whole = nullptr, *again = nullptr, *half = nullptr;
    const hipExternalMemoryBufferDesc all{0, bytes, 0}, second{4096, 4096, 0};
    OK(hipExternalMemoryGetMappedBuffer(&whole, memory, &all));
    OK(hipExternalMemoryGetMappedBuffer(&again, memory, &all));
    CHECK_EQ(whole, again);
    OK(launch(code["increment"], 1, nullptr, static_cast<int *>(whole)));
    OK(hipDeviceSynchronize());
    CHECK_EQ(file.data[0], 42); // its maker sees it
    CapturedStderr said;
    FAILS(hipExternalMemoryGetMappedBuffer(&half, memory, &second), hipErrorInvalidValue);
    CHECK(said.text().find("bytes 4096..8191 overlap") != std::string::npos);
    OK(hipFree(whole));
    OK(hipExternalMemoryGetMappedBuffer(&half, memory, &second));
    OK(hipDestroyExternalMemory(memory));
    int seen = 0;
    OK(hipMemcpy(&seen, half, 4, hipMemcpyDeviceToHost)); // lives until it is freed
    CHECK_EQ(seen, 7);
    OK(launch(code["increment"], 1, nullptr, static_cast<int *>(half)));
    OK(hipDeviceSynchronize());
    CHECK_EQ(file.data[1024], 8);
    OK(hipFree(half));
    FAILS(hipDestroyExternalMemory(memory), hipErrorInvalidValue);
}

TEST_CASE("what external memory refuses") {
    MemoryFile file;
    hipExternalMemory_t memory = nullptr;
    hipExternalMemoryHandleDesc desc = file.desc();
    FAILS(hipImportExternalMemory(nullptr, &desc), hipErrorInvalidValue);
    FAILS(hipImportExternalMemory(&memory, nullptr), hipErrorInvalidValue);
    desc.size = 0;
    FAILS(hipImportExternalMemory(&memory, &desc), hipErrorInvalidValue);
    desc = file.desc();
    desc.flags = 2;
    FAILS(hipImportExternalMemory(&memory, &desc), hipErrorInvalidValue);
    desc = file.desc();
    desc.type = static_cast<hipExternalMemoryHandleType>(9);
    FAILS(hipImportExternalMemory(&memory, &desc), hipErrorInvalidValue);
    CapturedStderr said;
    desc.type = hipExternalMemoryHandleTypeD3D12Heap;
    FAILS(hipImportExternalMemory(&memory, &desc), hipErrorNotSupported);
    CHECK(said.text().find("a handle of type 4: only POSIX descriptors") != std::string::npos);
    desc = file.desc();
    desc.size = bytes + 1;
    FAILS(hipImportExternalMemory(&memory, &desc), hipErrorOutOfMemory);
    CHECK(said.text().find("the file has 8192 bytes, size says 8193") != std::string::npos);
    desc = file.desc();
    desc.handle.fd = -1;
    FAILS(hipImportExternalMemory(&memory, &desc), hipErrorOutOfMemory);
    desc = file.desc();
    OK(hipImportExternalMemory(&memory, &desc));
    void *pointer = nullptr;
    hipExternalMemoryBufferDesc buffer{0, bytes + 1, 0};
    FAILS(hipExternalMemoryGetMappedBuffer(&pointer, memory, &buffer), hipErrorInvalidValue);
    buffer = {0, bytes, 1};
    FAILS(hipExternalMemoryGetMappedBuffer(&pointer, memory, &buffer), hipErrorInvalidValue);
    FAILS(hipExternalMemoryGetMappedBuffer(&pointer, nullptr, &buffer), hipErrorInvalidValue);
    FAILS(hipExternalMemoryGetMappedBuffer(nullptr, memory, &buffer), hipErrorInvalidValue);
    OK(hipDestroyExternalMemory(memory));
    FAILS(hipDestroyExternalMemory(nullptr), hipErrorInvalidValue);
}

// SPDX-License-Identifier: MIT
// Buffers in host memory that the device maps, for devices that share it: the CPU's backend uses
// them too, without copies. A file's own pages can be such a buffer. Graphs of such a device end
// before they return (backend.cpp), so the host never meets a kernel here.
#include <ggml-impl.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>

#include "engines/ggml/device.h"
#include "engines/ggml/hip_calls.h"

namespace nw::engine {

namespace {

constexpr unsigned read_only = 0x10; // hipHostRegisterReadOnly, since HIP 5.3

struct Buffer {
    Device &device;
    void *data;
    void *registered; // its first page; null if the buffer is our allocation
};

Buffer &of(ggml_backend_buffer_t buffer) { return *static_cast<Buffer *>(buffer->context); }

void *page_of(const void *data) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    return reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(data) / page * page);
}

void free_buffer(ggml_backend_buffer_t buffer) {
    Buffer &own = of(buffer);
    if (enter(own.device)) {
        if (own.registered)
            succeeded(hip().hipHostUnregister(own.registered), "hipHostUnregister");
        else
            succeeded(hip().hipHostFree(own.data), "hipHostFree");
    }
    delete &own;
}

void *get_base(ggml_backend_buffer_t buffer) { return of(buffer).data; }

// In a child of fork() the pages may be missing: pinned memory is not inherited.
void memset_tensor(ggml_backend_buffer_t buffer, ggml_tensor *tensor, uint8_t value,
                   std::size_t offset, std::size_t size) {
    if (enter(of(buffer).device))
        std::memset(static_cast<char *>(tensor->data) + offset, value, size);
}

void set_tensor(ggml_backend_buffer_t buffer, ggml_tensor *tensor, const void *data,
                std::size_t offset, std::size_t size) {
    if (enter(of(buffer).device))
        std::memcpy(static_cast<char *>(tensor->data) + offset, data, size);
}

void get_tensor(ggml_backend_buffer_t buffer, const ggml_tensor *tensor, void *data,
                std::size_t offset, std::size_t size) {
    if (enter(of(buffer).device))
        std::memcpy(data, static_cast<const char *>(tensor->data) + offset, size);
    else
        std::memset(data, 0xff, size); // NaN as floats: not mistaken for a result
}

void clear(ggml_backend_buffer_t buffer, uint8_t value) {
    if (enter(of(buffer).device))
        std::memset(of(buffer).data, value, buffer->size);
}

constexpr ggml_backend_buffer_i buffer_face() {
    ggml_backend_buffer_i face{};
    face.free_buffer = free_buffer;
    face.get_base = get_base;
    face.memset_tensor = memset_tensor;
    face.set_tensor = set_tensor;
    face.get_tensor = get_tensor;
    face.clear = clear;
    return face;
}

bool is_host(ggml_backend_buffer_type_t) { return true; }

// Pages are pinned: more than there are would end other programs, or this one, without a word.
ggml_backend_buffer_t allocate(ggml_backend_buffer_type_t type, std::size_t bytes) {
    Device &device = device_of(type);
    if (!enter(device))
        return nullptr;
    const HostMemory memory = host_memory();
    void *data = nullptr;
    if (bytes > memory.available || hip().hipHostMalloc(&data, bytes ? bytes : memory_alignment,
                                                        host_memory_flags) != hipSuccess) {
        say_does_not_fit(device, bytes, memory.available, memory.total);
        return nullptr;
    }
    return ggml_backend_buffer_init(type, buffer_face(), new Buffer{device, data, nullptr}, bytes);
}

} // namespace

bool map_pages(void *data, std::size_t bytes, int *error) {
    void *const first = page_of(data);
    bytes += static_cast<std::size_t>(static_cast<char *>(data) - static_cast<char *>(first));
    *error = hip().hipHostRegister(first, bytes,
                                   hipHostRegisterPortable | hipHostRegisterMapped |
                                       hipExtHostRegisterCoarseGrained | read_only);
    if (*error != hipSuccess)
        return false;
    void *there = nullptr;
    *error = hip().hipHostGetDevicePointer(&there, first, 0);
    if (*error == hipSuccess && there == first)
        return true;
    static_cast<void>(hip().hipHostUnregister(first));
    return false;
}

ggml_backend_buffer_type make_host_memory(Device &device) {
    ggml_backend_buffer_type type = make_memory(device);
    type.iface.alloc_buffer = allocate;
    type.iface.is_host = is_host;
    return type;
}

ggml_backend_buffer_t map_host_memory(Device &device, void *data, std::size_t bytes) {
    if (!enter(device))
        return nullptr;
    if (const HostMemory memory = host_memory(); bytes > memory.total) {
        say_does_not_fit(device, bytes, memory.available, memory.total);
        return nullptr;
    }
    int error = hipSuccess;
    if (!map_pages(data, bytes, &error)) {
        say_error("%s can't map %zu MiB of a file (%s): load it without mmap", device.name.c_str(),
                  bytes >> 20, hip().hipGetErrorName(static_cast<hipError_t>(error)));
        return nullptr;
    }
    return ggml_backend_buffer_init(&device.memory, buffer_face(),
                                    new Buffer{device, data, page_of(data)}, bytes);
}

bool can_map_files(Device &device) {
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (file < 0 || !enter(device))
        return false;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void *const data = mmap(nullptr, page, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (data == MAP_FAILED)
        return false;
    int error = hipSuccess;
    const bool can = map_pages(data, page, &error);
    if (can)
        static_cast<void>(hip().hipHostUnregister(data));
    munmap(data, page);
    return can && file_pages_fault(device).empty();
}

HostMemory host_memory() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    HostMemory out{page * static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)),
                   page * static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES))};
    std::ifstream file("/proc/meminfo"); // free pages alone leave out what caches can give up
    std::string word;
    std::size_t kib = 0;
    while (file >> word)
        if (word == "MemAvailable:" && file >> kib)
            out.available = kib << 10;
    return out;
}

} // namespace nw::engine

// SPDX-License-Identifier: MIT
// Pinned host memory, for tensors that the CPU's backend keeps and this device copies: results, and
// inputs. Kernels never get it.
#include <ggml-backend.h>
#include <ggml-impl.h>

#include "engines/ggml/device.h"
#include "engines/ggml/hip_calls.h"

namespace nw::engine {

namespace {

const char *get_name(ggml_backend_buffer_type_t type) {
    return device_of(type).host_memory_name.c_str();
}

void free_buffer(ggml_backend_buffer_t buffer) {
    Device &device = device_of(buffer->buft);
    if (enter(device))
        succeeded(hip().hipHostFree(buffer->context), "hipHostFree");
}

// The CPU's own memory where there is no more to pin: it serves as well, more slowly.
ggml_backend_buffer_t allocate(ggml_backend_buffer_type_t type, std::size_t bytes) {
    Device &device = device_of(type);
    void *data = nullptr;
    if (!enter(device) || bytes > host_memory().available ||
        hip().hipHostMalloc(&data, bytes ? bytes : memory_alignment,
                            hipHostMallocPortable | hipHostMallocCoherent) != hipSuccess)
        return ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), bytes);
    const ggml_backend_buffer_t buffer = ggml_backend_cpu_buffer_from_ptr(data, bytes);
    buffer->buft = type;
    buffer->iface.free_buffer = free_buffer;
    return buffer;
}

} // namespace

ggml_backend_buffer_type make_pinned_memory(Device &device) {
    ggml_backend_buffer_type type = *ggml_backend_cpu_buffer_type();
    type.iface.get_name = get_name;
    type.iface.alloc_buffer = allocate;
    type.device = &device.face;
    type.context = &device;
    return type;
}

} // namespace nw::engine

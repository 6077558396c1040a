// SPDX-License-Identifier: MIT
// Buffers in device memory. Their bytes are the file's: no repacking, no padding.
#include <cstring>

#include "engines/ggml/device.h"
#include "engines/ggml/hip_calls.h"

namespace nw::engine {

namespace {

struct Buffer {
    Device &device;
    void *data;
};

Buffer &of(ggml_backend_buffer_t buffer) { return *static_cast<Buffer *>(buffer->context); }

// ggml's functions that copy return nothing, so a failure is kept for the next graph.
bool done(Device &device, int error, const char *call) {
    const bool good = succeeded(error, call) &&
                      succeeded(hip().hipStreamSynchronize(nullptr), "hipStreamSynchronize");
    device.broken |= !good;
    return good;
}

void free_buffer(ggml_backend_buffer_t buffer) {
    Buffer &own = of(buffer);
    count_write(of(buffer).device, buffer);
    if (enter(own.device))
        succeeded(hip().hipFree(own.data), "hipFree");
    delete &own;
}

void *get_base(ggml_backend_buffer_t buffer) { return of(buffer).data; }

void memset_tensor(ggml_backend_buffer_t buffer, ggml_tensor *tensor, uint8_t value,
                   std::size_t offset, std::size_t size) {
    Device &device = of(buffer).device;
    count_write(of(buffer).device, buffer);
    if (enter(device))
        done(device, hip().hipMemset(static_cast<char *>(tensor->data) + offset, value, size),
             "hipMemset");
}

void set_tensor(ggml_backend_buffer_t buffer, ggml_tensor *tensor, const void *data,
                std::size_t offset, std::size_t size) {
    Device &device = of(buffer).device;
    count_write(of(buffer).device, buffer);
    if (enter(device) && !upload(device, static_cast<char *>(tensor->data) + offset, data, size))
        device.broken = true;
}

void get_tensor(ggml_backend_buffer_t buffer, const ggml_tensor *tensor, void *data,
                std::size_t offset, std::size_t size) {
    Device &device = of(buffer).device;
    if (enter(device) && done(device,
                              hip().hipMemcpy(data, static_cast<char *>(tensor->data) + offset,
                                              size, hipMemcpyDeviceToHost),
                              "hipMemcpy"))
        return;
    std::memset(data, 0xff, size); // NaN as floats: not mistaken for a result
}

bool cpy_tensor(ggml_backend_buffer_t buffer, const ggml_tensor *from, ggml_tensor *to) {
    Device &device = of(buffer).device;
    const ggml_backend_buffer_t source = from->view_src ? from->view_src->buffer : from->buffer;
    if (!is_memory_of(device, source->buft)) // ggml copies through the host
        return false;
    count_write(of(buffer).device, buffer);
    return enter(device) &&
           done(device,
                hip().hipMemcpy(to->data, from->data, ggml_nbytes(from), hipMemcpyDeviceToDevice),
                "hipMemcpy");
}

void clear(ggml_backend_buffer_t buffer, uint8_t value) {
    Device &device = of(buffer).device;
    count_write(of(buffer).device, buffer);
    if (buffer->size && enter(device))
        done(device, hip().hipMemset(of(buffer).data, value, buffer->size), "hipMemset");
}

constexpr ggml_backend_buffer_i buffer_face() {
    ggml_backend_buffer_i face{};
    face.free_buffer = free_buffer;
    face.get_base = get_base;
    face.memset_tensor = memset_tensor;
    face.set_tensor = set_tensor;
    face.get_tensor = get_tensor;
    face.cpy_tensor = cpy_tensor;
    face.clear = clear;
    return face;
}

const char *memory_name(ggml_backend_buffer_type_t type) { return device_of(type).name.c_str(); }

std::size_t alignment_of(ggml_backend_buffer_type_t) { return memory_alignment; }

ggml_backend_buffer_t allocate(ggml_backend_buffer_type_t type, std::size_t bytes) {
    Device &device = device_of(type);
    if (!enter(device))
        return nullptr;
    void *data = nullptr;
    if (hip().hipMalloc(&data, bytes ? bytes : memory_alignment) != hipSuccess) {
        std::size_t available = 0, total = 0;
        static_cast<void>(hip().hipMemGetInfo(&available, &total));
        say_does_not_fit(device, bytes, available, total);
        return nullptr;
    }
    return ggml_backend_buffer_init(type, buffer_face(), new Buffer{device, data}, bytes);
}

} // namespace

ggml_backend_buffer_type make_memory(Device &device) {
    ggml_backend_buffer_type type{};
    type.iface.get_name = memory_name;
    type.iface.alloc_buffer = allocate;
    type.iface.get_alignment = alignment_of;
    type.device = &device.face;
    type.context = &device;
    return type;
}

void say_does_not_fit(const Device &device, std::size_t bytes, std::size_t available,
                      std::size_t total) {
    say_error("%zu MiB do not fit into %s, which has %zu of %zu MiB free: leave tensors to the CPU "
              "(--override-tensor PATTERN=CPU), or take a smaller context or model",
              bytes >> 20, device.name.c_str(), available >> 20, total >> 20);
}

bool is_memory_of(const Device &device, ggml_backend_buffer_type_t type) {
    return type == &device.memory;
}

bool may_be_ours(const Device &device, const ggml_tensor *tensor) {
    const ggml_tensor *const base = tensor->view_src ? tensor->view_src : tensor;
    return !base->buffer || is_memory_of(device, base->buffer->buft);
}

void count_write(Device &device, ggml_backend_buffer_t buffer) {
    if (buffer && buffer->usage == GGML_BACKEND_BUFFER_USAGE_WEIGHTS)
        device.weights_written++;
}

Device &device_of(ggml_backend_buffer_type_t type) { return *static_cast<Device *>(type->context); }

} // namespace nw::engine

// SPDX-License-Identifier: MIT
#include "engines/ggml/device.h"

#include <ggml-impl.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>

#include "engines/ggml/events.h"
#include "engines/ggml/hip_calls.h"
#include "engines/ggml/ops.h"
#include "engines/ggml/product.h"

namespace nw::engine {

namespace {

std::atomic<bool> forked{false}; // this process is a child of one that had opened the device

void watch_forks() {
    static const int once = pthread_atfork(nullptr, nullptr, [] { forked = true; });
    static_cast<void>(once);
}

const char *get_name(ggml_backend_dev_t dev) { return device_of(dev).name.c_str(); }

const char *get_description(ggml_backend_dev_t dev) { return device_of(dev).description.c_str(); }

void get_memory(ggml_backend_dev_t dev, std::size_t *available, std::size_t *total) {
    *available = *total = 0;
    if (device_of(dev).shares_memory) {
        const HostMemory memory = host_memory();
        *available = memory.available, *total = memory.total;
    } else if (enter(device_of(dev)))
        succeeded(hip().hipMemGetInfo(available, total), "hipMemGetInfo");
}

enum ggml_backend_dev_type get_type(ggml_backend_dev_t dev) { return device_of(dev).type; }

void get_props(ggml_backend_dev_t dev, ggml_backend_dev_props *props) {
    const Device &device = device_of(dev);
    *props = {};
    props->name = device.name.c_str();
    props->description = device.description.c_str();
    get_memory(dev, &props->memory_free, &props->memory_total);
    props->type = get_type(dev);
    props->device_id = device.pci.empty() ? nullptr : device.pci.c_str();
    props->caps.async = true;
    props->caps.events = true;
    props->caps.host_buffer = true;
#if NW_GGML_MMAP_SUPPORT
    props->caps.mmap_support = true; // a file may be mapped: its weights are copied from there
#endif
    props->caps.buffer_from_host_ptr = device.maps_files; // or they stay there
}

ggml_backend_t init_backend(ggml_backend_dev_t dev, const char *) {
    return make_backend(device_of(dev));
}

ggml_backend_buffer_type_t get_buffer_type(ggml_backend_dev_t dev) {
    return &device_of(dev).memory;
}

ggml_backend_buffer_type_t get_host_buffer_type(ggml_backend_dev_t dev) {
    return &device_of(dev).pinned;
}

ggml_backend_buffer_t buffer_from_host_ptr(ggml_backend_dev_t dev, void *data, std::size_t bytes,
                                           std::size_t) {
    return map_host_memory(device_of(dev), data, bytes);
}

bool supports_op(ggml_backend_dev_t dev, const ggml_tensor *op) {
    return supports(device_of(dev), op);
}

bool offload_op(ggml_backend_dev_t, const ggml_tensor *op) { return is_worth_copying(op); }

bool supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t type) {
    return is_memory_of(device_of(dev), type);
}

} // namespace

Device &device_of(ggml_backend_dev_t dev) { return *static_cast<Device *>(dev->context); }

ggml_backend_device make_face(ggml_backend_reg_t reg, Device &device) {
    watch_forks();
    ggml_backend_device face{};
    face.iface.get_name = get_name;
    face.iface.get_description = get_description;
    face.iface.get_memory = get_memory;
    face.iface.get_type = get_type;
    face.iface.get_props = get_props;
    face.iface.init_backend = init_backend;
    face.iface.get_buffer_type = get_buffer_type;
    face.iface.buffer_from_host_ptr = buffer_from_host_ptr;
    face.iface.supports_op = supports_op;
    face.iface.supports_buft = supports_buft;
    face.iface.get_host_buffer_type = get_host_buffer_type;
    face.iface.offload_op = offload_op;
    face.iface.event_new = make_event;
    face.iface.event_free = free_event;
    face.iface.event_synchronize = await_event;
    face.reg = reg;
    face.context = &device;
    return face;
}

bool enter(Device &device) {
    if (forked) {
        say_error("%s was opened before fork(), and HIP works only in the process that opened it: "
                  "load the backend after fork()",
                  device.name.c_str());
        device.broken = true;
        return false;
    }
    return succeeded(hip().hipSetDevice(device.ordinal), "hipSetDevice");
}

bool upload(Device &device, void *to, const void *from, std::size_t bytes) {
    const std::lock_guard lock(device.copying);
    return succeeded(device.staging.queue(to, from, bytes, nullptr), "hipMemcpyAsync") &&
           succeeded(hip().hipStreamSynchronize(nullptr), "hipStreamSynchronize");
}

bool succeeded(int error, const char *call) {
    if (error == hipSuccess)
        return true;
    say_error("%s: %s (%d)", call, hip().hipGetErrorName(static_cast<hipError_t>(error)), error);
    return false;
}

void say_error(const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    GGML_LOG_ERROR("nibblewave: %s\n", text);
}

} // namespace nw::engine

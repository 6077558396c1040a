// SPDX-License-Identifier: MIT
// Owning handles. Destructors can't report errors, so they ignore them.
#include <fmt/format.h>

#include <utility>

#include "hip/image_bytes.h"
#include "hip/library.h"

namespace nw::hip {

static hipModule_t module_of(void *p) { return static_cast<hipModule_t>(p); }
static hipStream_t stream_of(void *p) { return static_cast<hipStream_t>(p); }
static hipEvent_t event_of(void *p) { return static_cast<hipEvent_t>(p); }

// ---- Buffer

Buffer::Buffer(std::shared_ptr<Library> library, u64 bytes)
    : library_(std::move(library)), size_(bytes) {
    library_->check(library_->on_device().hipMalloc(&data_, bytes), "hipMalloc",
                    fmt::format("{} bytes", bytes));
}

Buffer::Buffer(Buffer &&other) noexcept
    : library_(std::move(other.library_)), data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Buffer &Buffer::operator=(Buffer &&other) noexcept {
    std::swap(library_, other.library_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

Buffer::~Buffer() {
    if (data_)
        static_cast<void>(library_->call().hipFree(data_));
}

static void check_range(u64 bytes, u64 offset, u64 size, const char *what) {
    if (offset > size || bytes > size - offset)
        throw Error(
            -1, {}, what,
            fmt::format("{}: {} bytes at offset {} of a buffer of {}", what, bytes, offset, size));
}

void Buffer::upload(const void *from, u64 bytes, u64 offset) {
    check_range(bytes, offset, size_, "upload");
    if (bytes == 0)
        return;
    static_cast<void>(library_->on_device());
    library_->check(library_->loaded->upload(static_cast<std::byte *>(data_) + offset, from, bytes),
                    "hipMemcpy", fmt::format("{} bytes to the device", bytes));
}

void Buffer::download(void *to, u64 bytes, u64 offset) const {
    check_range(bytes, offset, size_, "download");
    if (bytes == 0)
        return;
    library_->check(library_->on_device().hipMemcpy(to, static_cast<std::byte *>(data_) + offset,
                                                    bytes, hipMemcpyDeviceToHost),
                    "hipMemcpy", fmt::format("{} bytes from the device", bytes));
}

void Buffer::fill(u8 value) {
    if (size_ > 0)
        library_->check(library_->on_device().hipMemset(data_, value, size_), "hipMemset");
}

// ---- Module

Module::Module(std::shared_ptr<Library> library, const std::string &path)
    : library_(std::move(library)) {
    hipModule_t module = nullptr;
    library_->check(library_->on_device().hipModuleLoad(&module, path.c_str()), "hipModuleLoad",
                    path);
    module_ = module;
}

Module::Module(std::shared_ptr<Library> library, std::span<const std::byte> image)
    : library_(std::move(library)) {
    if (const std::string missing = what_is_missing(image); !missing.empty())
        throw Error(-1, {}, "hipModuleLoadData",
                    fmt::format("code object of {} bytes: {}", image.size(), missing));
    hipModule_t module = nullptr;
    library_->check(library_->on_device().hipModuleLoadData(&module, image.data()),
                    "hipModuleLoadData", fmt::format("{} bytes", image.size()));
    module_ = module;
}

Module::Module(Module &&other) noexcept
    : library_(std::move(other.library_)), module_(std::exchange(other.module_, nullptr)) {}

Module &Module::operator=(Module &&other) noexcept {
    std::swap(library_, other.library_);
    std::swap(module_, other.module_);
    return *this;
}

Module::~Module() {
    if (module_)
        static_cast<void>(library_->call().hipModuleUnload(module_of(module_)));
}

Function Module::function(const std::string &name) const {
    hipFunction_t function = nullptr;
    library_->check(
        library_->on_device().hipModuleGetFunction(&function, module_of(module_), name.c_str()),
        "hipModuleGetFunction", name);
    return {function, name};
}

// ---- Event

Event::Event(std::shared_ptr<Library> library) : library_(std::move(library)) {
    hipEvent_t event = nullptr;
    library_->check(library_->on_device().hipEventCreate(&event), "hipEventCreate");
    event_ = event;
}

Event::Event(Event &&other) noexcept
    : library_(std::move(other.library_)), event_(std::exchange(other.event_, nullptr)) {}

Event &Event::operator=(Event &&other) noexcept {
    std::swap(library_, other.library_);
    std::swap(event_, other.event_);
    return *this;
}

Event::~Event() {
    if (event_)
        static_cast<void>(library_->call().hipEventDestroy(event_of(event_)));
}

// ---- Stream

Stream::Stream(std::shared_ptr<Library> library) : library_(std::move(library)) {
    hipStream_t stream = nullptr;
    library_->check(library_->on_device().hipStreamCreate(&stream), "hipStreamCreate");
    stream_ = stream;
}

Stream::Stream(Stream &&other) noexcept
    : library_(std::move(other.library_)), stream_(std::exchange(other.stream_, nullptr)),
      owned_(other.owned_) {}

Stream &Stream::operator=(Stream &&other) noexcept {
    std::swap(library_, other.library_);
    std::swap(stream_, other.stream_);
    std::swap(owned_, other.owned_);
    return *this;
}

Stream Stream::borrow(std::shared_ptr<Library> library, void *handle) {
    Stream out;
    out.library_ = std::move(library);
    out.stream_ = handle;
    out.owned_ = false;
    return out;
}

Stream::~Stream() {
    if (stream_ && owned_)
        static_cast<void>(library_->call().hipStreamDestroy(stream_of(stream_)));
}

void Stream::synchronize() const {
    if (!library_) // a Stream that was never given a device stands for every device's null stream
        throw Error(
            -1, {}, "Stream::synchronize",
            "Stream::synchronize: the null stream belongs to a Device: call its synchronize()");
    library_->check(library_->on_device().hipStreamSynchronize(stream_of(stream_)),
                    "hipStreamSynchronize");
}

bool Stream::capturing() const {
    if (!stream_) // the null stream can't be captured
        return false;
    hipStreamCaptureStatus status{};
    library_->check(library_->call().hipStreamIsCapturing(stream_of(stream_), &status),
                    "hipStreamIsCapturing");
    return status != hipStreamCaptureStatusNone;
}

} // namespace nw::hip

// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "hip/library.h"

namespace nw::hip {

Device::Device(std::string_view spec, std::string_view defaults) {
    Opened opened = open_device(spec, defaults);
    library_ = std::move(opened.library);
    info_ = std::move(opened.info);
}

Device Device::own(std::string_view spec, std::string_view defaults) {
    Opened opened = open_own(spec, defaults);
    return {std::move(opened.library), std::move(opened.info)};
}

Device::Device(std::shared_ptr<Library> library, DeviceInfo info)
    : library_(std::move(library)), info_(std::move(info)) {}

Device Device::current() {
    Opened opened = open_current();
    return {std::move(opened.library), std::move(opened.info)};
}

KeepCurrentDevice::KeepCurrentDevice(const Device &device) : library_(*device.library()) {
    library_.check(library_.call().hipGetDevice(&before_), "hipGetDevice");
}

KeepCurrentDevice::~KeepCurrentDevice() {
    if (before_ != library_.ordinal)
        static_cast<void>(library_.call().hipSetDevice(before_));
}

Buffer Device::allocate(u64 bytes) const { return Buffer(library_, bytes); }
Module Device::load(const std::string &path) const { return Module(library_, path); }
Module Device::load(std::span<const std::byte> image) const { return Module(library_, image); }
Stream Device::stream() const { return Stream(library_); }
Event Device::event() const { return Event(library_); }

void Device::launch(const Function &function, u32 workgroups, u32 block, u32 dynamic_lds,
                    std::span<const std::byte> kernarg, const Stream &stream) const {
    std::size_t bytes = kernarg.size();
    void *const packed = const_cast<std::byte *>(kernarg.data());
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    const hipError_t code = library_->on_device().hipModuleLaunchKernel(
        static_cast<hipFunction_t>(function.handle), workgroups, 1, 1, block, 1, 1, dynamic_lds,
        static_cast<hipStream_t>(stream.handle()), nullptr, extra);
    if (code != hipSuccess) // the text costs more than the launch
        library_->check(code, "hipModuleLaunchKernel",
                        fmt::format("{}, {} x {}", function.name, workgroups, block));
}

void Device::record(const Event &event, const Stream &stream) const {
    library_->check(library_->on_device().hipEventRecord(static_cast<hipEvent_t>(event.handle()),
                                                         static_cast<hipStream_t>(stream.handle())),
                    "hipEventRecord");
}

f32 Device::elapsed_ms(const Event &start, const Event &stop) const {
    const auto begin = static_cast<hipEvent_t>(start.handle());
    const auto end = static_cast<hipEvent_t>(stop.handle());
    library_->check(library_->on_device().hipEventSynchronize(end), "hipEventSynchronize");
    f32 ms = 0;
    library_->check(library_->call().hipEventElapsedTime(&ms, begin, end), "hipEventElapsedTime");
    return ms;
}

void Device::synchronize() const {
    library_->check(library_->on_device().hipDeviceSynchronize(), "hipDeviceSynchronize");
}

std::vector<std::string> Device::take_stats() const {
    std::vector<std::string> lines;
    if (!library_->loaded->simulated)
        return lines;
    const auto add = [](const char *line, void *to) {
        static_cast<std::vector<std::string> *>(to)->emplace_back(line);
    };
    const SimulatorCalls &sim = library_->loaded->sim;
    if (sim.hipsimTakeStats(library_->ordinal, add, &lines))
        throw Error(-1, {}, "hipsimTakeStats", sim.hipsimLastMessage());
    return lines;
}

} // namespace nw::hip

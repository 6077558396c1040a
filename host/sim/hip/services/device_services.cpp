// SPDX-License-Identifier: MIT
#include "sim/hip/services/device_services.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "sim/func/memory/access.h"

namespace nw::hipsim {

DeviceServices::~DeviceServices() {
    if (queue_)
        memory_.release(queue_);
}

// hsa_queue_t and what follows it in amd_queue_t. There are no packets to enqueue: its ring is
// empty.
u64 DeviceServices::queue() {
    constexpr u64 bytes = 256, features = 4, size = 24, id = 32, group_base = 64, private_base = 68;
    const std::lock_guard lock(mutex_);
    if (!queue_) {
        auto *const at = static_cast<std::byte *>(memory_.allocate(bytes, "the queue"));
        if (!at)
            throw std::bad_alloc();
        std::memset(at, 0, bytes);
        const auto put = [&](u64 offset, u32 value) {
            std::memcpy(at + offset, &value, sizeof value);
        };
        put(features, 1); // dispatches kernels
        put(size, 0);
        put(id, 1);
        put(group_base, sim::shared_aperture);
        put(private_base, sim::private_aperture);
        queue_ = at;
    }
    return reinterpret_cast<u64>(queue_);
}

std::unique_ptr<Hostcall> DeviceServices::take_hostcall(u32 packets) {
    {
        const std::lock_guard lock(mutex_);
        const auto fits = [&](const auto &hostcall) { return hostcall->packets() >= packets; };
        if (const auto at = std::ranges::find_if(free_, fits); at != free_.end()) {
            auto taken = std::move(*at);
            free_.erase(at);
            return taken;
        }
    }
    return std::make_unique<Hostcall>(memory_, packets);
}

void DeviceServices::give_back(std::unique_ptr<Hostcall> hostcall) {
    constexpr size_t most = 4; // launches at once; a larger buffer replaces a smaller one
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(hostcall));
    std::ranges::sort(free_, {}, [](const auto &h) { return h->packets(); });
    if (free_.size() > most)
        free_.erase(free_.begin());
}

} // namespace nw::hipsim

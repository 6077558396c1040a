// SPDX-License-Identifier: MIT
// HIP's opaque handles: stale and foreign handles are detected, not dereferenced.
#pragma once
#include <memory>
#include <mutex>
#include <unordered_map>

namespace nw::hipsim {

template <class Handle, class Object> class Handles {
public:
    Handle add(std::shared_ptr<Object> object) {
        const auto handle = reinterpret_cast<Handle>(object.get());
        add(handle, std::move(object));
        return handle;
    }

    void add(Handle handle, std::shared_ptr<Object> object) {
        const std::lock_guard lock(mutex_);
        live_[handle] = std::move(object);
    }

    // Null when `handle` is not live.
    std::shared_ptr<Object> find(Handle handle) const {
        const std::lock_guard lock(mutex_);
        const auto at = live_.find(handle);
        return at == live_.end() ? nullptr : at->second;
    }

    // The handle of the first object that `is` accepts, or null.
    template <class Is> Handle find_if(Is &&is) const {
        const std::lock_guard lock(mutex_);
        for (const auto &[handle, object] : live_)
            if (is(*object))
                return handle;
        return nullptr;
    }

    template <class Do> void for_each(Do &&visit) const {
        const std::lock_guard lock(mutex_);
        for (const auto &[handle, object] : live_)
            visit(*object);
    }

    std::shared_ptr<Object> remove(Handle handle) {
        const std::lock_guard lock(mutex_);
        const auto node = live_.extract(handle);
        return node ? std::move(node.mapped()) : nullptr;
    }

private:
    mutable std::mutex mutex_;
    std::unordered_map<Handle, std::shared_ptr<Object>> live_;
};

} // namespace nw::hipsim

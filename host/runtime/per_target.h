// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/error.h"
#include "base/targets.h"

namespace nw {

// The target's place in targets(). Throws Error if there is none of that name.
inline u64 target_number(std::string_view gfx) {
    for (const Target &target : targets())
        if (target.name == gfx)
            return static_cast<u64>(&target - targets().data());
    throw Error(
        fmt::format("gfx = {}: no kernels for it; there are kernels for {}", gfx, target_names()));
}

// A T for each target, made at its first use. Thread-safe, and without a lock once it is made. What
// make() throws is thrown again at the next use.
template <class T> class PerTarget {
public:
    using Make = std::unique_ptr<const T> (*)(std::string_view gfx);
    explicit PerTarget(Make make)
        : make_(make), made_(std::make_unique<std::atomic<const T *>[]>(targets().size())) {}
    ~PerTarget() {
        for (u64 i = 0; i < targets().size(); ++i)
            delete made_[i].load();
    }

    const T &of(std::string_view gfx) {
        std::atomic<const T *> &slot = made_[target_number(gfx)];
        if (const T *found = slot.load(std::memory_order_acquire)) [[likely]]
            return *found;
        const std::lock_guard making(making_);
        if (const T *found = slot.load(std::memory_order_relaxed)) // by another thread meanwhile
            return *found;
        slot.store(make_(gfx).release(), std::memory_order_release);
        return *slot.load(std::memory_order_relaxed);
    }

private:
    const Make make_;
    std::mutex making_;
    std::unique_ptr<std::atomic<const T *>[]> made_;
};

} // namespace nw

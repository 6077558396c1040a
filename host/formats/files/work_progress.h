// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>

#include "base/types.h"

namespace nw {

// Progress callback: work done, total work in the same unit, current item. From any thread, one
// call at a time.
using WorkProgress = std::function<void(u64, u64, const std::string &)>;

// Calls it at most twenty times a second.
class WorkShown {
public:
    WorkShown(const WorkProgress &show, u64 total) : show_(show), total_(total) {}
    void advance(u64 amount, const std::string &what) {
        done_ += amount;
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock || !show_ || Clock::now() - last_ < std::chrono::milliseconds(50))
            return;
        last_ = Clock::now();
        show_(done_, total_, what);
    }

private:
    using Clock = std::chrono::steady_clock;

    const WorkProgress &show_;
    u64 total_;
    std::atomic<u64> done_{0};
    std::mutex mutex_;
    Clock::time_point last_{};
};

} // namespace nw

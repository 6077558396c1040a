// SPDX-License-Identifier: MIT
#include "sim/func/launch/turns.h"

#include <algorithm>
#include <chrono>

#include "sim/func/alu/frames.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/buffer_access.h"

namespace nw::sim {

void Turns::await(u64 group) {
    constexpr std::chrono::milliseconds look_up{50}; // how often to poll for the end of the process
    if (next_.load(std::memory_order_acquire) == group)
        return;
    std::unique_lock lock(mutex_);
    while (next_.load(std::memory_order_relaxed) != group) {
        if (group > last_)
            throw Stopped{};
        check_abandoned();
        changed_.wait_for(lock, look_up);
    }
}

void Turns::done(u64 group) {
    {
        std::lock_guard lock(mutex_);
        done_.insert(group);
        u64 next = next_.load(std::memory_order_relaxed);
        for (; !done_.empty() && *done_.begin() == next; ++next)
            done_.erase(done_.begin());
        next_.store(next, std::memory_order_release);
    }
    changed_.notify_all();
}

void Turns::stop_above(u64 group) {
    {
        std::lock_guard lock(mutex_);
        last_ = std::min(last_, group);
    }
    changed_.notify_all();
}

void run_in_turn(Wave &w, const Inst &i) {
    if (Turns *turns = w.context->turns)
        turns->await(w.group->number);
    (i.access->space == Space::buffer ? run_buffer : frames().memory)(w, i);
}

} // namespace nw::sim

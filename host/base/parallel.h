// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/types.h"

namespace nw {

// body(begin, end) over disjoint slices of [0, count), one per processor; rethrows the first
// exception. `grain`: minimum items per additional thread.
template <class Body> void parallel_for(u64 count, u64 grain, const Body &body) {
    const u64 processors = std::max(1u, std::thread::hardware_concurrency());
    const u64 slices = std::clamp<u64>(count / std::max<u64>(grain, 1), 1, processors);
    std::vector<std::exception_ptr> failures(slices);
    const auto run = [&](u64 slice) {
        try {
            body(count * slice / slices, count * (slice + 1) / slices);
        } catch (...) {
            failures[slice] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        for (u64 slice = 1; slice < slices; ++slice)
            threads.emplace_back(run, slice);
        run(0);
    }
    for (const std::exception_ptr &failure : failures)
        if (failure)
            std::rethrow_exception(failure);
}

// make_worker()(i) for each i in [0, count), started in this order, one worker per processor: for
// items of unequal size, or that should run close in time. After an exception no item starts; the
// first exception is rethrown.
template <class MakeWorker> void parallel_each(u64 count, const MakeWorker &make_worker) {
    std::atomic<u64> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto run = [&] {
        try {
            auto worker = make_worker();
            for (u64 i; (i = next.fetch_add(1)) < count;)
                worker(i);
        } catch (...) {
            next = count;
            const std::lock_guard lock(mutex);
            if (!failure)
                failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> threads;
        const u64 processors = std::max(1u, std::thread::hardware_concurrency());
        for (u64 n = 1; n < std::min(processors, count); ++n)
            threads.emplace_back(run);
        run();
    }
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace nw

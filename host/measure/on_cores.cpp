// SPDX-License-Identifier: MIT
#include "measure/on_cores.h"

#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/progress.h"

namespace nw {

static u64 processors() { return std::max(1u, std::thread::hardware_concurrency()); }

void run_on_cores(const std::vector<u64> &work, const std::function<void(u64)> &item) {
    std::vector<u64> left(work.size());
    std::iota(left.begin(), left.end(), 0);
    std::ranges::stable_sort(left, {}, [&](u64 i) { return work[i]; });
    Progress progress(std::accumulate(work.begin(), work.end(), u64{0}));
    std::exception_ptr failure;
    std::mutex mutex; // guards all of the above
    const auto run = [&] {
        std::unique_lock lock(mutex);
        while (!left.empty() && !failure) {
            const u64 i = left.back();
            left.pop_back();
            progress.show(fmt::format("{} of {}", work.size() - left.size(), work.size()));
            lock.unlock();
            std::exception_ptr failed;
            try {
                item(i);
            } catch (...) {
                failed = std::current_exception();
            }
            lock.lock();
            if (!failure)
                failure = failed;
            progress.advance(work[i]);
        }
    };
    {
        std::vector<std::jthread> threads;
        for (u64 n = 0; n < std::min<u64>(processors(), work.size()); ++n)
            threads.emplace_back(run);
    }
    progress.clear();
    if (failure)
        std::rethrow_exception(failure);
}

hip::Device model_device(std::string_view spec, u64 items, std::string_view more) {
    std::string settings = "timing=on";
    if (items > 1 && processors() > 1)
        settings += "&threads=1";
    if (!more.empty())
        settings.append("&").append(more);
    return hip::Device::own(spec, settings);
}

} // namespace nw

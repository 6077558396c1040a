// SPDX-License-Identifier: MIT
#include "measure/on_cores.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/parallel.h"
#include "base/progress.h"

namespace nw {

static u64 processors() { return std::max(1u, std::thread::hardware_concurrency()); }

void run_on_cores(const std::vector<u64> &work, const std::function<void(u64)> &item,
                  const std::function<void(u64)> &done) {
    std::vector<u64> order(work.size());
    std::iota(order.begin(), order.end(), 0);
    if (!done)
        std::ranges::stable_sort(order, std::greater{}, [&](u64 i) { return work[i]; });
    Progress progress(std::accumulate(work.begin(), work.end(), u64{0}));
    u64 begun = 0, reported = 0;
    std::vector<bool> finished(work.size());
    std::mutex mutex; // guards them all
    parallel_each(order.size(), [&] {
        return [&](u64 at) {
            {
                const std::lock_guard lock(mutex);
                progress.show(fmt::format("{} of {}", ++begun, order.size()));
            }
            item(order[at]);
            const std::lock_guard lock(mutex);
            progress.advance(work[order[at]]);
            finished[order[at]] = true;
            if (done && finished[reported])
                progress.clear();
            for (; done && reported < finished.size() && finished[reported]; ++reported)
                done(reported);
        };
    });
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

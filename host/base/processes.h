// SPDX-License-Identifier: MIT
// Work on simulated GPUs on all cores: a launch is timed on one. Each item has a process, so that
// its GPU is as new, with nothing in its caches, whatever else runs and in which order.
#pragma once
#include <functional>
#include <type_traits>
#include <vector>

#include "base/types.h"

namespace nw {

namespace detail {
// Memory that this process and those it forks share.
class SharedMemory {
public:
    explicit SharedMemory(u64 bytes);
    ~SharedMemory();
    SharedMemory(const SharedMemory &) = delete;
    void *data() const { return data_; }

private:
    void *data_;
    u64 bytes_;
};
void run_in_processes(const std::vector<u64> &work, const std::function<void(u64)> &item);
} // namespace detail

// item(i) for each i, each in a process of its own, as many at once as there are processors; the
// results in order. `work` has the size of each item, in any unit: large ones begin first. The
// first failure is thrown here, as an Error of the same text. Call it before a device is opened.
template <class Result, class Item>
std::vector<Result> in_processes(const std::vector<u64> &work, const Item &item) {
    static_assert(std::is_trivially_copyable_v<Result>);
    const detail::SharedMemory shared(work.size() * sizeof(Result));
    Result *const results = static_cast<Result *>(shared.data());
    detail::run_in_processes(work, [&](u64 i) { results[i] = item(i); });
    return std::vector<Result>(results, results + work.size());
}

} // namespace nw

// SPDX-License-Identifier: MIT
// Work on simulated GPUs on all cores: a launch is timed on one. Each item has a device of its own,
// as new, whatever else runs and in which order.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "hip/hip.h"

namespace nw {

void run_on_cores(const std::vector<u64> &work, const std::function<void(u64)> &item);

// item(i) for each i, as many at once as there are processors; the results in order. `work` has the
// size of each item, in any unit: large ones begin first. The first failure is thrown here.
template <class Result, class Item>
std::vector<Result> on_cores(const std::vector<u64> &work, const Item &item) {
    std::vector<Result> results(work.size());
    run_on_cores(work, [&](u64 i) { results[i] = item(i); });
    return results;
}

// The device of one of so many items: timed, unless HIPSIM_TIMING says otherwise. `spec` and the
// settings in `more` are those of hip::Device.
hip::Device model_device(std::string_view spec, u64 items, std::string_view more = "");

} // namespace nw

// SPDX-License-Identifier: MIT
// Work on simulated GPUs on all cores; a launch is timed on one. Each item has a new device of its
// own, so results depend neither on order nor on other items.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "hip/hip.h"

namespace nw {

// `done(i)`, if given, is called in the order of the items, each as soon as it and all before it
// are finished; items then begin in this order too, else the largest first.
void run_on_cores(const std::vector<u64> &work, const std::function<void(u64)> &item,
                  const std::function<void(u64)> &done = {});

// item(i) for each i, one per processor at a time; returns the results in order. `work` has the
// size of each item, in any unit. Rethrows the first failure.
template <class Result, class Item>
std::vector<Result> on_cores(const std::vector<u64> &work, const Item &item,
                             const std::function<void(u64, const Result &)> &done = {}) {
    std::vector<Result> results(work.size());
    std::function<void(u64)> each;
    if (done)
        each = [&](u64 i) { done(i, results[i]); };
    run_on_cores(
        work, [&](u64 i) { results[i] = item(i); }, each);
    return results;
}

// The device of one of `items` items, timed unless HIPSIM_TIMING says otherwise. `spec` and the
// settings in `more`: see hip::Device.
hip::Device model_device(std::string_view spec, u64 items, std::string_view more = "");

} // namespace nw

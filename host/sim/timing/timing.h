// SPDX-License-Identifier: MIT
// Runs launches on a device and models their duration.
#pragma once
#include <memory>

#include "sim/func/machine.h"
#include "sim/timing/result.h"

namespace nw::sim::timing {

class Timing {
public:
    // One per device: its caches keep their contents across launches.
    Timing(const Device &device, Part part, Costs costs);
    ~Timing();

    struct Timed {
        RunStats stats;
        Result result;
    };
    // As sim::run. In a grid of many generations of workgroups the first ones are timed and the
    // rest is extrapolated, unless `exact`; so are long loops, unless it is watched. A kernel that
    // reads a clock is timed completely, as it executes.
    Timed run(const Dispatch &, Memory &, const RunConfig &, bool exact, Watcher * = nullptr);

    const Part &part() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace nw::sim::timing

// SPDX-License-Identifier: MIT
// Runs launches on a device and says how long they take there.
#pragma once
#include <memory>

#include "sim/func/machine.h"
#include "sim/timing/result.h"

namespace nw::sim::timing {

class Timing {
public:
    // One per device: its caches keep what they hold from launch to launch.
    Timing(const Device &device, Part part, Costs costs);
    ~Timing();

    struct Timed {
        RunStats stats;
        Result result;
    };
    // As sim::run. Of a grid with many generations of workgroups the first ones are timed and the
    // rest follows from their rate, unless `exact`. A kernel that reads a clock runs as it is
    // timed, all of it.
    Timed run(const Dispatch &, Memory &, const RunConfig &, bool exact, Watcher * = nullptr);

    const Part &part() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace nw::sim::timing

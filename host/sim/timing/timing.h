// SPDX-License-Identifier: MIT
// Runs launches on a device and models their duration.
#pragma once
#include <memory>

#include "sim/func/machine.h"
#include "sim/timing/result.h"
#include "sim/timing/what_if.h"

namespace nw::sim::timing {

// Options and outputs of the timing of a launch.
struct TimingOptions {
    u32 draws = 0;          // sets of constants (draws.h) under which each launch is replayed
    bool cold_data = false; // before each launch no cache has data
    bool warm_code = false; // before each launch the instruction caches have the kernel's code
    u64 kept_insts = 0;     // launches are kept for replay() if they time no more instructions
};

class Timing {
public:
    // One per device: its caches keep their contents across launches.
    Timing(const Device &device, Part part, Costs costs, TimingOptions = {});
    ~Timing();

    struct Timed {
        RunStats stats;
        Result result;
        bool sliced = false; // only a part of the instructions was executed
    };
    // As sim::run. In a grid of many generations of workgroups some are left out once they take
    // equally long (generations.h), unless `exact`; so are iterations of long loops. If it is
    // watched, the first generations are timed, with all iterations. A kernel that
    // reads a clock is timed completely, as it executes. Each draw has caches of its own, which see
    // the same launches; a kernel that reads a clock is not replayed, so they miss it.
    Timed run(const Dispatch &, Memory &, const RunConfig &, bool exact, Watcher * = nullptr);
    // The same for times alone: memory and bytes of `stats` are undefined afterwards. If the kernel
    // permits that, only what decides branches, masks and addresses is executed (slice.h), of the
    // workgroups that are timed.
    Timed run_for_times(const Dispatch &, Memory &, const RunConfig &, bool exact,
                        Watcher * = nullptr);

    // The last launch is kept: no more instructions than the options say, and no clock is read.
    bool kept() const;
    // The kept launch with a change, its caches as they were before it. Several may run at once,
    // but `coalesced` changes the record: nothing may be replayed beside it or later.
    Result replay(const Dispatch &, const Memory &, const WhatIf &) const;
    std::vector<Footprint> footprints(const Dispatch &) const; // of the kept launch

    const Part &part() const;

private:
    Timed run(const Dispatch &, Memory &, const RunConfig &, bool exact, Watcher *, bool times);
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace nw::sim::timing

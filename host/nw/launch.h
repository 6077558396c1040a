// SPDX-License-Identifier: MIT
// One kernel launch from command line options, run on the simulated GPU without HIP.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/command_line.h"
#include "nw/kernel_options.h"
#include "sim/timing/timing.h"

namespace nw::cli {

struct LaunchOptions : KernelOptions {
    std::string part, profile, clock, power;
    u32 repeat = 1;
    u64 max_insts = 0;
    bool exact = false;
    sim::timing::TimingOptions timing;
};
void add_options(Command &, LaunchOptions &);
void add_launch_options(Command &, LaunchOptions &); // without the file

// A code object on a private device, with its arguments in memory.
class Launch {
public:
    // Throws nw::Error naming the option, the problem and the remedy.
    explicit Launch(const LaunchOptions &);
    ~Launch();

    // Caches keep their contents between runs.
    sim::timing::Timing::Timed run(sim::timing::Watcher * = nullptr);
    // For a last launch whose results are not read (timing.h).
    sim::timing::Timing::Timed run_for_times(sim::timing::Watcher * = nullptr);

    // The last run with a change; of the timing model, whose options must have kept it.
    const sim::timing::Timing &timing() const;
    sim::timing::Result replay(const sim::timing::WhatIf &) const;

    const sim::Dispatch &dispatch() const;
    const sim::Device &device() const;
    const sim::timing::Part &part() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace nw::cli

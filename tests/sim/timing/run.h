// SPDX-License-Identifier: MIT
// Times a few lines of assembly, for tests of the model of time.
#pragma once
#include <string>
#include <vector>

#include "sim/assemble.h"
#include "sim/isa/code.h"
#include "sim/timing/timing.h"

namespace nw::sim::test {

struct TimedLaunch {
    Dim3 grid, block{32, 1, 1};
    u32 words = 1024; // of the buffer that argument 0 points to
    bool exact = true;
    bool times = false;  // run_for_times
    bool warm = true;    // the second of two launches
    bool watched = true; // `events` is filled in
    bool reads = true;   // `memory` is filled in; else a page exists once the kernel writes it
    RunConfig config;
    timing::Costs costs; // of the gfx, unless `own_costs`
    bool own_costs = false;
    const timing::Part *part = nullptr; // null: the default of the gfx
    timing::TimingOptions options;
    // Filled in.
    std::vector<timing::IssueEvent> events; // in the order in which waves ended
    std::vector<u64> starts;                // of waves
    timing::Result result;
    RunStats stats;
    bool sliced = false;
    std::vector<u32> memory;
    const Code *code = nullptr;
    std::shared_ptr<const Program> program;

    std::string_view mnemonic(const timing::IssueEvent &e) const {
        return code->instructions[e.index].x.mnemonic;
    }
    // Wave 0 of workgroup 0: issue or completion times of its instructions with this prefix.
    std::vector<u64> issues(std::string_view prefix) const;
    std::vector<u64> executions(std::string_view prefix) const;
};

void time(const KernelText &, TimedLaunch &);

// Differences between neighbours.
std::vector<u64> deltas(const std::vector<u64> &);

} // namespace nw::sim::test

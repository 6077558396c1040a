// SPDX-License-Identifier: MIT
// The model of time: workgroups on SIMDs, instruction by instruction, cycle by cycle where it
// matters. An event is a SIMD at a cycle in which one of its waves may issue.
#pragma once
#include <memory>

#include "sim/func/workgroup.h"
#include "sim/timing/op_facts.h"
#include "sim/timing/result.h"

namespace nw::sim::timing {

struct Machine {
    const Part &part;
    const Costs &costs;
    const Device &device;
    const ProgramFacts &facts;
    MemorySystem &memory;
    u64 code_address = 0; // in device memory
    Watcher *watcher = nullptr;
};

// What the waves do: a record of workgroups [0, groups), or, where it depends on time, the waves
// themselves.
struct Script {
    Recorder *recorder = nullptr;
    u64 groups = 0;                        // to time
    Context *live = nullptr;               // then they are executed as they are issued
    const LaunchChecker *checks = nullptr; // of these
};

struct Outcome {
    Result result;
    RunStats stats;              // of live waves
    std::vector<u64> group_ends; // cycles, by workgroup
    u32 resident = 0;            // workgroups that fit at once
};

Outcome play(const Machine &machine, const Dispatch &dispatch, const Code &code, Script script);

} // namespace nw::sim::timing

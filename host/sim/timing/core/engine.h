// SPDX-License-Identifier: MIT
// Event-driven timing model: workgroups on SIMDs, per instruction, cycle by cycle where needed. An
// event is a SIMD at a cycle in which one of its waves may issue.
#pragma once
#include <memory>

#include "sim/func/launch/workgroup.h"
#include "sim/timing/constants/generations.h"
#include "sim/timing/core/op_facts.h"
#include "sim/timing/result.h"
#include "sim/timing/what_if.h"

namespace nw::sim::timing {

struct Machine {
    const Part &part;
    const Costs &costs;
    const Device &device;
    const ProgramFacts &facts;
    MemorySystem &memory;
    u64 code_address = 0; // in device memory
    Watcher *watcher = nullptr;
    const WhatIf &changes = unchanged;
};

// Source of the waves' instructions: a record of workgroups, or live waves if control flow depends
// on time.
struct Script {
    Recorder *recorder = nullptr;
    Plan plan;                             // of the whole grid, to begin with if it samples
    bool samples = false;                  // leaves workgroups out (generations.h)
    std::vector<GroupWork> probes;         // workgroups all over the grid; may be empty
    bool skips = false;                    // iterations of long loops (steady.h)
    bool beside = false;                   // recording runs on another thread
    bool keeps = false;                    // the record is read again later
    Context *live = nullptr;               // non-null: waves execute as they issue
    const LaunchChecker *checks = nullptr; // for live waves
};

struct Outcome {
    Result result;
    RunStats stats; // of live waves
    Generations generations;
    u32 resident = 0; // workgroups that fit at once
};

Outcome play(const Machine &machine, const Dispatch &dispatch, const Code &code, Script script);

} // namespace nw::sim::timing

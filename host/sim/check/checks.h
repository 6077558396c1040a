// SPDX-License-Identifier: MIT
// The dynamic checkers of a workgroup's waves, selected by RunConfig, and the loop that runs them
// before every instruction.
#pragma once
#include <memory>
#include <vector>

#include "sim/check/hazard.h"
#include "sim/check/init.h"
#include "sim/check/race.h"
#include "sim/check/wait.h"
#include "sim/func/checker.h"

namespace nw::sim {

struct CheckKinds {
    bool wait = false;   // a register touched while its load or store is in flight is a Fault
    bool init = false;   // poison that reaches an address, a branch or a store is a Fault
    bool memory = false; // the same of device memory that nothing has written; with init
    bool race = false;   // accesses of two waves that nothing orders are a Fault
    bool strict_scalar = false; // scalar loads are exact to the byte (S-060)
};

// For RunConfig::checker; null when all are off. Lives as long as the program.
const Checker *checker(CheckKinds);

// Facts of a program's code, computed at its first launch.
struct CheckFacts {
    // The loop's filter: most instructions touch nothing that a checker watches.
    struct Row {
        RegisterSet touches;
        bool waits = false, init = false; // always seen by WaitCheck, InitCheck
        bool hazards = false;             // always seen by HazardCheck
        bool races = false;               // always seen by RaceCheck
        bool memory = false;              // seen by InitCheck where memory is watched
    };
    std::vector<Row> rows;                      // by instruction index
    std::unique_ptr<const WaitFacts> wait;      // null: the check is off
    std::unique_ptr<const HazardFacts> hazards; // with wait
    std::unique_ptr<const InitFacts> init;
    std::unique_ptr<const RaceFacts> race;
    CheckFacts(CheckKinds kinds, const Code &code, std::string_view gfx);

private:
    void fill_rows(const Code &);
};

class Checks final : public GroupChecker {
public:
    // `shared` is of the launch, and used by one thread only: see race.h.
    Checks(const CheckFacts &facts, RaceShared &shared, size_t waves);
    void start_group(u64 group, size_t lds_bytes) override;
    void start_wave(const Wave &) override;
    u64 run(Wave &, u64 budget) override;

private:
    const CheckFacts &facts_;
    InitShared shared_;
    std::vector<WaitCheck> wait_; // by wave; empty when off
    std::vector<HazardCheck> hazards_;
    std::vector<InitCheck> init_;
    std::unique_ptr<RaceCheck> race_; // of the workgroup
    u32 group_waves_ = 0;
    bool memory_ = false; // is watched
};

} // namespace nw::sim

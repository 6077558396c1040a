// SPDX-License-Identifier: MIT
// The checkers of a workgroup's waves, and the loop that asks them before every instruction.
#pragma once
#include <memory>
#include <vector>

#include "sim/func/hazard_check.h"
#include "sim/func/init_check.h"
#include "sim/func/race_check.h"
#include "sim/func/wait_check.h"

namespace nw::sim {

// Made once per launch, shared by its workers.
struct CheckFacts {
    // What the loop looks at first: most instructions touch nothing that a checker watches.
    struct Row {
        RegisterSet touches;
        bool waits = false, sees_memory = false; // WaitCheck, InitCheck must see it in any case
        bool hazards = false;                    // HazardCheck must
        bool races = false;                      // RaceCheck must
    };
    std::vector<Row> rows;                      // by instruction index
    std::unique_ptr<const WaitFacts> wait;      // null: the check is off
    std::unique_ptr<const HazardFacts> hazards; // with wait
    std::unique_ptr<const InitFacts> init;
    std::unique_ptr<const RaceFacts> race;
    std::unique_ptr<RaceShared> race_shared; // one thread's: see race_check.h
    CheckFacts(const RunConfig &config, const Code &code, std::string_view gfx);
    bool any() const { return wait || init || race; }

private:
    void fill_rows(const Code &);
};

class Checks {
public:
    Checks(const CheckFacts &facts, size_t waves);
    void start_group(u64 group, size_t lds_bytes);
    void start_wave(const Wave &);
    // As Frames::run, with the checks.
    u64 run(Wave &, u64 budget);

private:
    const CheckFacts &facts_;
    InitShared shared_;
    std::vector<WaitCheck> wait_; // by wave; empty when off
    std::vector<HazardCheck> hazards_;
    std::vector<InitCheck> init_;
    std::unique_ptr<RaceCheck> race_; // of the workgroup
    u32 group_waves_ = 0;
};

} // namespace nw::sim

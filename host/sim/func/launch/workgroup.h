// SPDX-License-Identifier: MIT
// A running workgroup: entry state, registers, LDS, and the schedule of its waves.
#pragma once
#include <memory>
#include <vector>

#include "sim/func/checker.h"
#include "sim/func/launch/launch.h"

namespace nw::sim {

struct Frames; // sim/func/alu/frames.h

// Scratch of one lane, from the descriptor and hipLimitStackSize.
u32 scratch_bytes(const Dispatch &);

// State of one workgroup at a time; reused for the next.
class Workgroup {
public:
    Workgroup(Context &, const LaunchChecker *); // null: no checks
    ~Workgroup();

    void run(u64 index); // from start to end
    void start(u64 index);
    // Runs at most `turn` instructions of each runnable wave; false when the group has ended.
    bool take_turn(u64 turn);
    // One instruction of a wave that is running.
    void step(Wave &w) { run_wave(w, 1); }
    // Resumes waves whose barrier is complete; false if there is none.
    bool release_waiting();
    // Throws: no wave can run, and some wait.
    [[noreturn]] void deadlock();
    // True if the last turn left every live wave asleep or at a barrier.
    bool quiet() const { return quiet_; }
    // Throws: the live waves wait for the grid, in vain.
    [[noreturn]] void grid_deadlock(const std::string &text);
    // True if each wave that may run reads memory in its next turn, and only [begin, end). Runs
    // that turn.
    bool polls_only(u64 begin, u64 end, u64 turn);

    Group &group() { return group_; }
    RunStats stats() const; // of all workgroups that have ended

private:
    void start_wave(u32 n);
    void run_wave(Wave &, u64 turn);
    u64 run_instructions(Wave &, u64 budget); // returns what is left of the budget
    u64 run_on(Wave &, u64 budget);           // the same, with RunConfig::findings
    void leave_out(Wave &, const Fault &);
    void finish(Wave &);

    Context &c_;
    const Frames &frames_;
    std::unique_ptr<GroupChecker> checks_; // null when all are off
    Group group_;
    std::vector<Row> registers_;
    std::vector<std::byte> scratch_;
    RangeCache cache_;
    const Inst *entry_ = nullptr;
    unsigned halves_ = 1;
    u32 scratch_bytes_ = 0;
    bool quiet_ = false;
    u64 counts_[tally_limit] = {}; // of all waves that have ended
    RunStats stats_;               // the other statistics
};

} // namespace nw::sim

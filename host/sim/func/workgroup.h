// SPDX-License-Identifier: MIT
// A workgroup on its way: entry state, registers, LDS, and its waves' turns.
#pragma once
#include <memory>
#include <vector>

#include "sim/func/checker.h"
#include "sim/func/launch.h"

namespace nw::sim {

struct Frames; // sim/func/frames.h

// Of one lane, as the descriptor and hipLimitStackSize have it.
u32 scratch_bytes(const Dispatch &);

// Room for one workgroup at a time; one after another may run in it.
class Workgroup {
public:
    Workgroup(Context &, const LaunchChecker *); // null: no checks

    void run(u64 index); // from start to end
    void start(u64 index);
    // At most `turn` instructions of every wave that can run; false when the group has ended.
    bool take_turn(u64 turn);
    // One instruction of a wave that is running.
    void step(Wave &w) { run_wave(w, 1); }
    // Lets waves go on that wait for a barrier which is complete; false when there is none.
    bool release_waiting();
    // Throws: no wave runs, and some wait.
    [[noreturn]] void deadlock();

    Group &group() { return group_; }
    RunStats stats() const; // of all that have ended

private:
    void start_wave(u32 n);
    void run_wave(Wave &, u64 turn);
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
    u64 counts_[tally_limit] = {}; // of all waves that have ended
    RunStats stats_;               // the rest of them
};

} // namespace nw::sim

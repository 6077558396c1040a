// SPDX-License-Identifier: MIT
// Workgroups run on several threads, and what they leave must not depend on how many. So an atomic
// whose result depends on the order of atomics waits until all workgroups before its own are done:
// what comes out is what one thread, running workgroup after workgroup, would have made of it.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>

#include "base/types.h"

namespace nw::sim {

struct Wave;
struct Inst;

class Turns {
public:
    // Until all workgroups below `group` are done. Throws Stopped, or Abandoned.
    void await(u64 group);
    void done(u64 group); // also when it ended in a Fault
    // Workgroups above this one need not go on: it has a Fault, and the first one counts.
    void stop_above(u64 group);
    struct Stopped {};

private:
    std::atomic<u64> next_{0}; // all below are done
    u64 last_ = ~u64{0};
    std::set<u64> done_; // those above next_
    std::mutex mutex_;
    std::condition_variable changed_;
};

// Handler of such an atomic.
void run_in_turn(Wave &, const Inst &);

} // namespace nw::sim

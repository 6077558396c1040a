// SPDX-License-Identifier: MIT
// Makes results independent of the number of host threads. An atomic whose result depends on the
// order of atomics waits until all earlier workgroups are done. The result equals that of one
// thread that runs the workgroups in order.
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
    // Waits until all workgroups below `group` are done. Throws Stopped, or Abandoned.
    void await(u64 group);
    void done(u64 group); // also after a Fault
    // Cancels workgroups above this one: it has a Fault, and the first one is reported.
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

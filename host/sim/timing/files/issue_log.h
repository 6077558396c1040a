// SPDX-License-Identifier: MIT
// HIPSIM_ISSUE_LOG: every instruction of every timed wave, as CSV.
//   dispatch,workgroup,wave,simd,pc,issue_cycle,done_cycle,stall_reason,mnemonic
// dispatch: timed launches of the process, from 0. workgroup: in grid order, x first. simd: of the
// part. pc: from the kernel's start. Cycles: since the launch's start. stall_reason: why it didn't
// issue in the cycle after the wave's last one, or none. A launch's rows are sorted by issue_cycle.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "sim/func/machine.h"
#include "sim/timing/files/out_file.h"
#include "sim/timing/result.h"

namespace nw::sim::timing {

class IssueLog {
public:
    IssueLog(const std::string &path, Complain complain); // throws nw::Error
    // For one launch; it must not outlive the log. Buffers at most the rows issued during the
    // longest wave.
    std::unique_ptr<Watcher> watch(const Dispatch &);

private:
    class Launch;

    std::mutex mutex_; // devices run concurrently
    OutFile file_;
    u64 launches_ = 0;
};

} // namespace nw::sim::timing

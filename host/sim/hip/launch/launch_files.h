// SPDX-License-Identifier: MIT
// HIPSIM_TRACE and HIPSIM_ISSUE_LOG: timelines of each timed launch.
#pragma once
#include <memory>

#include "sim/hip/config.h"
#include "sim/timing/files/issue_log.h"
#include "sim/timing/files/trace_file.h"
#include "sim/timing/timeline.h"
#include "sim/timing/watchers.h"

namespace nw::hipsim {

class LaunchFiles {
public:
    // Throws nw::Error for a file that can't be written, or that would have no launches.
    void open(const Config &config);
    // The watchers of this launch; none if no file was requested.
    sim::timing::Watchers watch(const sim::Dispatch &, const sim::timing::Part &, int device);

    // The command has ended in modelled time.
    void ended(const sim::timing::Command &, std::string_view name, const sim::timing::Part &,
               int device);
    bool wants_commands() const { return trace_ != nullptr; }

private:
    std::unique_ptr<sim::timing::TraceFile> trace_;
    std::unique_ptr<sim::timing::IssueLog> issue_log_;
};

} // namespace nw::hipsim

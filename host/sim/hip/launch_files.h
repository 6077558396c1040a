// SPDX-License-Identifier: MIT
// HIPSIM_TRACE and HIPSIM_ISSUE_LOG: what happens when in each timed launch.
#pragma once
#include <memory>

#include "sim/hip/config.h"
#include "sim/timing/issue_log.h"
#include "sim/timing/trace_file.h"
#include "sim/timing/watchers.h"

namespace nw::hipsim {

class LaunchFiles {
public:
    // What can't be written is said on stderr; the rest goes on without it.
    explicit LaunchFiles(const Config &config);
    // Whoever writes of this launch; nobody when no file was asked for.
    sim::timing::Watchers watch(const sim::Dispatch &, const sim::timing::Part &, int device);

private:
    std::unique_ptr<sim::timing::TraceFile> trace_;
    std::unique_ptr<sim::timing::IssueLog> issue_log_;
};

} // namespace nw::hipsim

// SPDX-License-Identifier: MIT
// The HIPSIM_* environment variables, read once, when the runtime starts.
#pragma once
#include <string>
#include <vector>

#include "sim/func/machine.h"
#include "sim/timing/costs.h"
#include "sim/timing/part.h"

namespace nw::hipsim {

// HIPSIM_TIMING: whether launches are timed, and all of their workgroups or a sample.
enum class TimingMode { off, sampled, exact };

// What the model of time is told of one device: HIPSIM_PART and HIPSIM_PROFILE.
struct TimedPart {
    sim::timing::Part part;
    sim::timing::Costs costs;
};

struct Config {
    std::vector<const sim::Device *> devices; // HIPSIM_ARCH; empty after an unknown name
    sim::RunConfig run;                       // HIPSIM_CHECK, _THREADS, _MAX_INSTS, _DUMP
    std::string stats_path;                   // HIPSIM_STATS; empty: none
    std::string report_path;                  // HIPSIM_REPORT; empty: none
    std::string trace_path;                   // HIPSIM_TRACE; empty: none
    std::string issue_log_path;               // HIPSIM_ISSUE_LOG; empty: none
    TimingMode timing = TimingMode::off;      // HIPSIM_TIMING
    std::vector<TimedPart> parts;             // of the devices, when launches are timed
    bool launch_blocking = false;             // HIP_LAUNCH_BLOCKING, as on real ROCm
};

// What a variable asks for and we can't do is said on stderr, with what is allowed.
Config read_config();

} // namespace nw::hipsim

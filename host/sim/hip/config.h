// SPDX-License-Identifier: MIT
// Configuration of the simulated GPU: HIPSIM_* variables, and settings in a device's name.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/func/choices.h"
#include "sim/func/machine.h"
#include "sim/timing/constants/costs.h"
#include "sim/timing/constants/part.h"
#include "sim/timing/timing.h"

namespace nw::hipsim {

// Launch timing: off, a sample of the workgroups, or all.
enum class TimingMode { off, sampled, exact };

// Inputs of the timing model for one device.
struct TimedPart {
    sim::timing::Part part;
    sim::timing::Costs costs;
};

// One device. Each setting has a name and a variable: timing and HIPSIM_TIMING, and so on.
struct DeviceConfig {
    const sim::Device *facts = nullptr;
    sim::RunConfig run;                  // check, threads, math, max_insts, dump
    std::optional<sim::Choices> choices; // else those of the process
    TimingMode timing = TimingMode::off;
    std::optional<TimedPart> timed; // part and profile; where launches are timed
    sim::timing::TimingOptions timed_options;
    bool estimates = false;   // of time, where launches aren't timed: see estimate.h
    bool keeps_stats = false; // for hipsimTakeStats
};

// Shared by all devices.
struct Config {
    std::string stats_path;              // HIPSIM_STATS; empty: none
    std::string report_path;             // HIPSIM_REPORT; empty: none
    std::string findings_path;           // HIPSIM_FINDINGS; empty: none
    std::string trace_path;              // HIPSIM_TRACE; empty: none
    std::string issue_log_path;          // HIPSIM_ISSUE_LOG; empty: none
    TimingMode timing = TimingMode::off; // HIPSIM_TIMING
    bool launch_blocking = false;        // HIP_LAUNCH_BLOCKING, as on real ROCm
};

// Both throw nw::Error for an unknown variable, an invalid value, or a model that isn't available.
Config read_config();
std::vector<DeviceConfig> read_devices(); // of HIPSIM_ARCH

// Of HIPSIM_PART the one with this gfx, else the usual one. Throws nw::Error for an unknown name.
sim::timing::Part part_of_gfx(std::string_view gfx);
// The part at the clock of HIPSIM_CLOCK and HIPSIM_POWER.
sim::timing::Part at_clock(sim::timing::Part part);

// "gfx1151?timing=on&check=wait,init", or a part's name for the gfx. Precedence: `spec`, then
// HIPSIM_*, then `defaults`
// ("timing=on"). Throws nw::Error for invalid settings in `spec` or `defaults`.
DeviceConfig parse_device(std::string_view spec, std::string_view defaults);

} // namespace nw::hipsim

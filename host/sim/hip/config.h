// SPDX-License-Identifier: MIT
// What the simulated GPU is told: HIPSIM_* variables, and settings that come with a device's name.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/func/choices.h"
#include "sim/func/machine.h"
#include "sim/timing/costs.h"
#include "sim/timing/part.h"

namespace nw::hipsim {

// Whether launches are timed, and all of their workgroups or a sample.
enum class TimingMode { off, sampled, exact };

// What the model of time is told of one device.
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
    bool keeps_stats = false;       // for hipsimTakeStats
};

// What all devices share.
struct Config {
    std::string stats_path;              // HIPSIM_STATS; empty: none
    std::string report_path;             // HIPSIM_REPORT; empty: none
    std::string trace_path;              // HIPSIM_TRACE; empty: none
    std::string issue_log_path;          // HIPSIM_ISSUE_LOG; empty: none
    TimingMode timing = TimingMode::off; // HIPSIM_TIMING
    bool launch_blocking = false;        // HIP_LAUNCH_BLOCKING, as on real ROCm
};

// What a variable asks for and we can't do is said on stderr, with what is allowed.
Config read_config();
// Those of HIPSIM_ARCH; none after an unknown name, or where the model can't be what is asked for.
std::vector<DeviceConfig> read_devices();

// "gfx1151?timing=on&check=wait,init": what `spec` doesn't say, HIPSIM_* do; what they don't,
// `defaults` does: "timing=on". Throws nw::Error for what `spec` and `defaults` can't have.
DeviceConfig parse_device(std::string_view spec, std::string_view defaults);

} // namespace nw::hipsim

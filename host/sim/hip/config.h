// SPDX-License-Identifier: MIT
// The HIPSIM_* environment variables, read once, when the runtime starts.
#pragma once
#include <string>
#include <vector>

#include "sim/func/machine.h"

namespace nw::hipsim {

struct Config {
    std::vector<const sim::Device *> devices; // HIPSIM_ARCH; empty after an unknown name
    sim::RunConfig run;                       // HIPSIM_CHECK, _THREADS, _MAX_INSTS, _DUMP
    std::string stats_path;                   // HIPSIM_STATS; empty: none
    std::string report_path;                  // HIPSIM_REPORT; empty: none
    bool launch_blocking = false;             // HIP_LAUNCH_BLOCKING, as on real ROCm
};

// What a variable asks for and we can't do is said on stderr, with what is allowed.
Config read_config();

} // namespace nw::hipsim

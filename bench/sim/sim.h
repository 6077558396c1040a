// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "bench/shapes.h"

namespace nw::bench {

// The suite `sim`: how fast the simulated GPU of --device (default sim:gfx1151) is, in wave
// instructions a second through Google Benchmark, beside a scalar interpreter's loop as the unit.
// Prints a table; returns the JSON rows. Every way to run the simulator (one core or two,
// HIPSIM_MATH) is a process of its own. Throws Usage for options that nothing fits.
nlohmann::json run_sim(const Options &, const std::vector<LinearShape> &);

} // namespace nw::bench

// SPDX-License-Identifier: MIT
// The suite `micro`: what nw micro measures, as rows of a bench.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "hip/hip.h"

namespace nw::bench {

// Prints a line for each measurement that --only lets through. Returns the JSON rows. Throws Usage
// where it lets none through.
nlohmann::json run_micro(const Options &, const hip::Device &);

} // namespace nw::bench

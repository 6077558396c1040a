// SPDX-License-Identifier: MIT
// The suite `decode`: the chosen kernels of decode_w4a16 in modelled time, beside published times.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "bench/shapes.h"

namespace nw::bench {

// Prints the tables and returns their rows. Throws Usage for options that nothing fits.
nlohmann::json run_decode(const Options &, const std::vector<LinearShape> &);

} // namespace nw::bench

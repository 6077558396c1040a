// SPDX-License-Identifier: MIT
// The suite `sensitivity`: which constants of the model the validated numbers depend on.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"

namespace nw::bench {

// Runs suite validate on the rows that --only lets through (default: small ones of gfx1151) once as
// it is and again with each guessed or fitted constant of the 8060S halved and doubled, as far as
// its legal range goes, and prints what moves; then what each row's error would be had it been left
// out of the fit. Returns the JSON rows. Throws Usage where --only matches no row.
nlohmann::json run_sensitivity(const Options &);

} // namespace nw::bench

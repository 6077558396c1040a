// SPDX-License-Identifier: MIT
// The suite `validate`: modelled numbers of the simulated GPU against published ones of hardware.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <regex>
#include <string>
#include <vector>

#include "bench/options.h"

namespace nw::bench {

// Runs what --only lets through and prints a table per group. Returns the JSON rows. Throws Usage
// for options that nothing fits.
nlohmann::json run_validate(const Options &);

// One number that hardware has and the model must have too.
struct Validated {
    std::string fact, group;
    f64 published, modelled;
    f64 error_pct() const { return 100 * (modelled / published - 1); }
};

// The groups. Each runs the facts whose name matches, prints them with the errors of the group, and
// returns them.
std::vector<Validated> validate_decode(const std::regex &only);
std::vector<Validated> validate_cliff(const std::regex &only);
std::vector<Validated> validate_cycles(const std::regex &only);

// "12 rows: MAPE 2.10 %, worst +5.30 % (name)"
std::string summary(const std::vector<Validated> &);

} // namespace nw::bench

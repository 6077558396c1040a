// SPDX-License-Identifier: MIT
// The groups of the suite validate: figures that hardware has and the model must have too. Each
// runs the facts whose name matches, prints them with the errors of the group, and returns them.
#pragma once
#include <regex>

#include "bench/line_fit.h"
#include "bench/suites.h"

namespace nw::bench {

Json validate_cycles(const std::regex &only);
Json validate_cliff(const std::regex &only);
Json validate_decode(const std::regex &only);

// fact, group, published, modelled, error_pct
Json validated(const std::string &fact, std::string_view group, f64 published, f64 modelled);
// "12 rows: MAPE 2.10 %, worst +5.30 % (name)"
std::string summary(const Json &rows);

} // namespace nw::bench

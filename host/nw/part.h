// SPDX-License-Identifier: MIT
// The part of --part, with the constants of --profile, at --clock.
#pragma once
#include <string>

#include "base/command_line.h"
#include "sim/timing/constants/costs.h"
#include "sim/timing/constants/part.h"

namespace nw::cli {

// All parts: "7900 XTX" (gfx1100), ...
std::string part_names();

// The part of that name; throws Error with a list of the parts.
const sim::timing::Part &part_of_name(const std::string &name);

// Applies the profile at the path. Throws Error if it is another part's.
void apply_profile(const std::string &path, sim::timing::Part &, sim::timing::Costs &);

// --clock and --power; throws Error for what the part can't have.
void add_clock_options(Command &, std::string &clock, std::string &power);
void apply_clock(const std::string &clock, const std::string &power, sim::timing::Part &);

} // namespace nw::cli

// SPDX-License-Identifier: MIT
// The part of --part, and its constants of --profile.
#pragma once
#include <string>

#include "sim/timing/costs.h"
#include "sim/timing/part.h"

namespace nw::cli {

// "7900 XTX" (gfx1100), ...: all there are.
std::string part_names();

// The part of that name; throws Error, which lists them.
const sim::timing::Part &part_of_name(const std::string &name);

// Sets what the profile of the path sets. Throws Error where it is another part's.
void apply_profile(const std::string &path, sim::timing::Part &, sim::timing::Costs &);

} // namespace nw::cli

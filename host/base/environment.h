// SPDX-License-Identifier: MIT
// The environment variables of this project.
#pragma once
#include <string_view>

namespace nw {

inline constexpr std::string_view hipsim_variables = "HIPSIM_",
                                  nibblewave_variables = "NIBBLEWAVE_";

// Throws Error, with the nearest name and those there are, for a variable that is set, begins with
// `prefix` and is read by nothing here: a misspelt one would change nothing without a word.
void check_variables(std::string_view prefix);

} // namespace nw

// SPDX-License-Identifier: MIT
// Options that are regular expressions.
#pragma once
#include <regex>

#include "bench/options.h"

namespace nw::bench {

// Throw Usage where the option is no regular expression.
std::regex only_pattern(const Options &);
std::regex constants_pattern(const Options &);

} // namespace nw::bench

// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/golden/golden.h"

namespace nw::bench {

// The figures of every kernel of each gfx that is no reference: what the catalogue says, and of
// the families that this file knows how to run, slots of a small product and a few modelled times.
std::map<std::string, Golden> measure_golden(const std::vector<std::string> &gfx);

} // namespace nw::bench

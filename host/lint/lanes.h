// SPDX-License-Identifier: MIT
// Rules F-005 and F-006: lanes that are off at a barrier or store.
#pragma once
#include <vector>

#include "lint/facts.h"
#include "lint/finding.h"

namespace nw::lint {

// By instruction: whether EXEC surely has all lanes of the wave before it.
std::vector<bool> all_lanes(const Flow &, const Facts &);

Findings find_lanes_off(const Flow &, const Facts &, const sim::KernelInfo &);

} // namespace nw::lint

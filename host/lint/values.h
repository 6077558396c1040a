// SPDX-License-Identifier: MIT
// Rules R-001, F-005, F-006 and F-007: uninitialised registers, lanes that are off at a barrier or
// store, comparisons whose result is lost.
#pragma once
#include "lint/facts.h"
#include "lint/finding.h"

namespace nw::lint {

// Registers that the hardware fills before the kernel's first instruction.
sim::RegisterSet written_at_entry(const sim::KernelInfo &, Generation);
// By instruction: whether EXEC surely has all lanes of the wave before it.
std::vector<bool> all_lanes(const Flow &, const Facts &);

Findings find_never_written(const Flow &, const Facts &, const sim::KernelInfo &);
Findings find_lanes_off(const Flow &, const Facts &);
Findings find_lost_compares(const Flow &, const Facts &);

} // namespace nw::lint

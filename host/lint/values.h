// SPDX-License-Identifier: MIT
// Rules R-001 and F-007: uninitialised registers, comparisons whose result is lost.
#pragma once
#include "lint/facts.h"
#include "lint/finding.h"

namespace nw::lint {

// Registers that the hardware fills before the kernel's first instruction.
sim::RegisterSet written_at_entry(const sim::KernelInfo &, Generation);

Findings find_never_written(const Flow &, const Facts &, const sim::KernelInfo &);
Findings find_lost_compares(const Flow &, const Facts &);

} // namespace nw::lint

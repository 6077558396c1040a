// SPDX-License-Identifier: MIT
// Rules R-001 and F-007: uninitialised registers, comparisons whose result is lost.
#pragma once
#include <utility>
#include <vector>

#include "lint/facts.h"
#include "lint/finding.h"

namespace nw::lint {

// Registers that the hardware fills before the kernel's first instruction.
sim::RegisterSet written_at_entry(const sim::KernelInfo &, const Target &);

// Registers (RegisterSet's places) that the operation copies, to and from. A copy between two is
// not a use; a read of the copy is.
std::vector<std::pair<unsigned, unsigned>> copies(const sim::Operation &);

// True if it preserves the part of a register that it doesn't read, or saves a register for its
// caller: registers that nothing wrote, too.
bool may_read_anything(const sim::Operation &, const Fact &);

Findings find_never_written(const Flow &, const Facts &, const sim::KernelInfo &);
Findings find_lost_compares(const Flow &, const Facts &);

} // namespace nw::lint

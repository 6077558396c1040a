// SPDX-License-Identifier: MIT
// Static analysis of a kernel in a code object: all rules.
#pragma once
#include "lint/finding.h"
#include "sim/isa/image/program.h"

namespace nw::lint {

// In code order, findings about the whole kernel first, without duplicates. `notes`: also what
// costs time but is not a bug.
Findings lint(const sim::Program &, const sim::KernelInfo &, bool notes);

} // namespace nw::lint

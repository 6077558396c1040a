// SPDX-License-Identifier: MIT
// What is wrong, or may be, with a kernel as it stands in a code object: all rules over all of its
// code.
#pragma once
#include "lint/finding.h"
#include "sim/isa/program.h"

namespace nw::lint {

// In the order of the code; those of the kernel as a whole first. Each rule says a thing once.
// `notes`: also what costs time and is no bug.
Findings lint(const sim::Program &, const sim::KernelInfo &, bool notes);

} // namespace nw::lint

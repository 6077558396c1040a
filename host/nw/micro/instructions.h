// SPDX-License-Identifier: MIT
// The instructions of a target, each with a line of assembly that can be measured.
#pragma once
#include <string>
#include <vector>

#include "nw/micro/table.h"

namespace nw::cli {

// Sorted by mnemonic, without numbers: with `line`, or with `why_not`.
std::vector<InstructionRow> instructions(const std::string &gfx);

} // namespace nw::cli

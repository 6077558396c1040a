// SPDX-License-Identifier: MIT
// Which constants of the timing model decide a measured number.
#pragma once
#include <string>

#include "hip/hip.h"
#include "nw/micro/table.h"

namespace nw::cli {

// For a simulated device: repeats one measurement of each kind of instruction with each constant
// of the core changed, and notes those that change the result. Throws Error where a profile sets
// constants.
void add_evidence(InstructionTable &, const hip::DeviceInfo &);

} // namespace nw::cli

// SPDX-License-Identifier: MIT
// Cooperative launches: all workgroups are resident and may wait for each other.
#pragma once
#include "sim/func/launch/launch.h"

namespace nw::sim {

// Runs all workgroups in turns on this thread. A wave that sleeps ends its turn. Throws a Fault
// when the grid waits in vain.
RunStats run_together(Context &);

} // namespace nw::sim

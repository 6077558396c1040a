// SPDX-License-Identifier: MIT
#pragma once
#include "base/types.h"

namespace nw::oracle {

// Rows of the simulator's tables with neither a reference here nor a reason in excused.inc. Each is
// told on stdout.
u64 uncovered_rows();

} // namespace nw::oracle

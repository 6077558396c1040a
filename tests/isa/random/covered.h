// SPDX-License-Identifier: MIT
#pragma once
#include "base/types.h"

namespace nw::oracle {

// Number of rows of the simulator's tables with neither a reference here nor a reason in
// excused.inc; each is printed.
u64 uncovered_rows();

} // namespace nw::oracle

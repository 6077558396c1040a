// SPDX-License-Identifier: MIT
// Rule W-005: waits for more than later instructions need.
//
// Results that a wait completes are tracked until an instruction uses them, so the wait was needed,
// or until a later wait would have completed it anyway.
#pragma once
#include "lint/facts.h"
#include "lint/finding.h"

namespace nw::lint {

// Covers waits for loads, LDS and scalar loads. A wait for stores makes them visible to others,
// which registers cannot show.
Findings find_long_waits(const Flow &, const Facts &);

} // namespace nw::lint

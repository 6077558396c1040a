// SPDX-License-Identifier: MIT
// Rule W-005: waits for more than what comes after them needs.
//
// What a wait has landed is followed on: until something touches it, and then the wait was needed
// for it, or until a later wait would have landed it anyway.
#pragma once
#include "lint/facts.h"
#include "lint/finding.h"

namespace nw::lint {

// Of waits for loads, LDS and scalar loads. One for stores is for others to see them: what that is
// worth no register says.
Findings find_long_waits(const Flow &, const Facts &);

} // namespace nw::lint

// SPDX-License-Identifier: MIT
// A number that may not be published.
#pragma once
#include "base/types.h"

namespace nw {

enum class Origin : u8 {
    fact,  // published; the note says by whom
    fit,   // fitted to published measurements
    guess, // neither: what is plausible
};

struct Estimate {
    f64 value = 0;
    Origin origin = Origin::fact;
};

} // namespace nw

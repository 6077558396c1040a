// SPDX-License-Identifier: MIT
// The origin of a number.
#pragma once
#include "base/types.h"

namespace nw {

enum class Origin : u8 {
    fact,  // published; the note cites the source
    fit,   // fitted to published measurements
    guess, // neither: a plausible value
};

struct Estimate {
    f64 value = 0;
    Origin origin = Origin::fact;
};

} // namespace nw

// SPDX-License-Identifier: MIT
// The origin of a number, and how far from it the hardware may be.
#pragma once
#include "base/types.h"

namespace nw {

enum class Origin : u8 {
    fact,  // published; the note cites the source
    fit,   // fitted to published measurements
    guess, // neither: a plausible value
};

// What the hardware's value may be, by the reason in the note. A fact's range is its value.
struct Range {
    f64 low = 0, high = 0;
    bool operator==(const Range &) const = default;
    bool contains(f64 value) const { return low <= value && value <= high; }
};

struct Estimate {
    f64 value = 0;
    Origin origin = Origin::fact;
    Range likely = {};
};

} // namespace nw

// SPDX-License-Identifier: MIT
// Changes that could make a launch faster, by what its run has counted.
#pragma once
#include <functional>

#include "nw/advice/advice.h"

namespace nw::cli {

// Advice whose gain isn't known yet.
struct Candidate {
    Advice advice;
    sim::timing::WhatIf change;
    // The launch's time by that of the replay; empty: it is that.
    std::function<f64(f64 us)> whole;
};

std::vector<Candidate> candidates(const Launch &, const sim::timing::Result &);

// The time if its waves were on all SIMDs: no replay, a bound by what they use. Empty: they are.
std::vector<Advice> spread_advice(const Launch &, const sim::timing::Result &);

} // namespace nw::cli

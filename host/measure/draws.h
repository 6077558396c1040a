// SPDX-License-Identifier: MIT
// Times with error bars: what the model says under draws of its constants (the setting uncertainty
// of a simulated device).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw {

struct DrawnTime {
    f64 us = 0;             // of the model as it is
    std::vector<f64> draws; // empty where there are none

    f64 low() const; // of the model and its draws
    f64 high() const;
};

// The launches of these lines of HIPSIM_STATS, one after the other. Without draws where a launch
// has none.
DrawnTime drawn_time(std::span<const std::string> stats);

// In how many draws `a` is still the faster one, or the slower one; both must have as many.
u32 draws_that_agree(const DrawnTime &a, const DrawnTime &b);
// The same against a time that doesn't depend on the model.
u32 draws_that_agree(const DrawnTime &a, f64 us);

// "4/5", or "" without draws.
std::string agreement(const DrawnTime &a, const DrawnTime &b);

inline constexpr const char *draws_help =
    "5 draws of all fitted and guessed constants within their ranges (nw constants), seed fixed: a "
    "launch is executed once and replayed under each; low and high are the extremes of these and "
    "of "
    "the model as it is; a comparison says in how many of the draws it keeps its sign";

// Lets all simulated devices that this process opens from now on have draws.
void draw_constants();

} // namespace nw

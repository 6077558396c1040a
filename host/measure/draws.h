// SPDX-License-Identifier: MIT
// Times with error bars: modelled times under draws of the model's constants (the setting
// uncertainty of a simulated device).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw {

struct DrawnTime {
    f64 us = 0;             // without draws
    std::vector<f64> draws; // empty: not drawn

    f64 low() const; // of the model and its draws
    f64 high() const;
};

// Sum of the launches of these lines of HIPSIM_STATS. Without draws if a launch has none.
DrawnTime drawn_time(std::span<const std::string> stats);

// Number of draws in which `a` stays faster than `b`, or slower; both have the same number.
u32 draws_that_agree(const DrawnTime &a, const DrawnTime &b);
// The same against a time that doesn't depend on the model.
u32 draws_that_agree(const DrawnTime &a, f64 us);

// "4/5", or "" without draws.
std::string agreement(const DrawnTime &a, const DrawnTime &b);

inline constexpr const char *draws_help =
    "5 draws of all fitted and guessed constants within their ranges (nw constants), seed fixed: a "
    "launch is executed once and replayed under each draw; low and high are the extremes, the "
    "unchanged "
    "model included; a comparison reports the number of draws in which it keeps its sign";

// Turns draws on for all simulated devices that this process opens from now on.
void draw_constants();

} // namespace nw

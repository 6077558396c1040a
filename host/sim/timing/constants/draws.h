// SPDX-License-Identifier: MIT
// The constants as the hardware may have them: draws within the likely ranges of what is fitted or
// guessed. Published and measured constants stay.
#pragma once
#include "sim/timing/constants/costs.h"
#include "sim/timing/constants/part.h"

namespace nw::sim::timing {

struct Constants {
    Part part;
    Costs costs;
};

// A number that --uncertainty draws where nothing else is said, and the most.
inline constexpr u32 usual_draws = 5, most_draws = 64;

// Draw `number` of `count`. The draws are a Latin hypercube: each constant's range is cut into
// `count` parts, and each draw takes another one, in an order that depends on the constant's name
// alone. So a draw has the same constants for all launches on a part, and differences of launches
// can be compared draw by draw. Half of a constant's draws are below its value.
Constants draw(const Part &, const Costs &, u32 number, u32 count);

// The least and the largest time, of the model as it is and of the draws.
Range bounds(f64 time, std::span<const f64> draws);

// A value of the unit in the range: `at` in [0, 1], 0.5 is the value.
f64 within(const Constant &, f64 at);

} // namespace nw::sim::timing

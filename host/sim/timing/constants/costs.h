// SPDX-License-Identifier: MIT
// The constants of an architecture, one named field per row of costs.inc.
#pragma once
#include <span>
#include <vector>

#include "sim/timing/constants/constant.h"

namespace nw::sim::timing {

struct Costs {
#define COST(name, unit_, gfx110x, gfx115x, gfx120x, origin, note, low, high, what)                \
    unit::unit_ name{};
#include "sim/timing/constants/costs.inc"
#undef COST
    bool operator==(const Costs &) const = default;
};

// The column of costs.inc for a gfx. Throws nw::Error for one that has none.
Costs costs_for(std::string_view gfx);

// In the order of costs.inc. What differs from the gfx's column has been measured: its range is its
// value.
std::vector<Constant> constants(const Costs &costs, std::string_view gfx);
std::span<const Field<Costs>> cost_fields();

} // namespace nw::sim::timing

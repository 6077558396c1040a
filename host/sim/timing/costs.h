// SPDX-License-Identifier: MIT
// The constants of an architecture, one named field per row of costs.inc.
#pragma once
#include <span>
#include <vector>

#include "sim/timing/constant.h"

namespace nw::sim::timing {

struct Costs {
#define COST(name, unit_, gfx110x, gfx115x, gfx120x, origin, note, low, high, what)                \
    unit::unit_ name{};
#include "sim/timing/costs.inc"
#undef COST
    bool operator==(const Costs &) const = default;
};

// The column of costs.inc for a gfx. Throws nw::Error for one that has none.
Costs costs_for(std::string_view gfx);

std::vector<Constant> constants(const Costs &costs); // in the order of costs.inc
std::span<const Field<Costs>> cost_fields();

} // namespace nw::sim::timing

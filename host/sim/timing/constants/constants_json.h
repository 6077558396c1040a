// SPDX-License-Identifier: MIT
// Lists all constants of a part in the timing model.
#pragma once
#include <string>
#include <vector>

#include "sim/timing/constants/costs.h"
#include "sim/timing/constants/part.h"

namespace nw::sim::timing {

// A constant and the range that a profile may set.
struct ListedConstant {
    Constant constant;
    f64 low, high;
    bool of_part; // in a profile: of "facts"; else of "constants"
};
std::vector<ListedConstant> list_constants(const Part &, const Costs &);

// {part, gfx, constants: [{name, section, value, unit, origin, likely_low,
// likely_high, note, lowest, highest, what}]}
std::string constants_json(const Part &, const std::vector<ListedConstant> &);
std::string constants_json(const Part &, const Costs &);

} // namespace nw::sim::timing

// SPDX-License-Identifier: MIT
#include "bench/goals.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nw::bench {

void print(const std::vector<Goal> &goals) {
    fmt::print("\n{:<62} {:>9} {:>9}\n", "goal", "", "measured");
    for (const Goal &g : goals)
        fmt::print("{:<62} {} {:>6.3g} {:>9.3f} {:<7} {}\n", g.what,
                   g.at_most ? "<=" : ">=", g.goal, g.measured, g.met() ? "met" : "NOT MET",
                   g.where);
}

nlohmann::json to_json(const Goal &g) {
    return {{"table", "goals"},       {"goal", g.what}, {"at_most", g.at_most}, {"limit", g.goal},
            {"measured", g.measured}, {"met", g.met()}, {"where", g.where}};
}

} // namespace nw::bench

// SPDX-License-Identifier: MIT
// What was aimed at beside what came out.
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/types.h"

namespace nw::bench {

struct Goal {
    std::string what;
    f64 goal, measured;
    bool at_most;      // else at least
    std::string where; // the row that is worst; empty: none stands out
    bool met() const { return at_most ? measured <= goal : measured >= goal; }
};

void print(const std::vector<Goal> &);
nlohmann::json to_json(const Goal &);

} // namespace nw::bench

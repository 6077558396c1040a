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

// The row of the largest or smallest value of those that `value` has one for (above zero), by its
// name.
template <class Row, class Value, class Name>
void add_goal(std::vector<Goal> &goals, const std::vector<Row> &rows, const std::string &what,
              f64 goal, bool at_most, const Value &value, const Name &name) {
    const Row *worst = nullptr;
    for (const Row &r : rows)
        if (value(r) > 0 &&
            (!worst || (at_most ? value(r) > value(*worst) : value(r) < value(*worst))))
            worst = &r;
    if (worst)
        goals.push_back({what, goal, value(*worst), at_most, name(*worst)});
}

void print(const std::vector<Goal> &);
nlohmann::json to_json(const Goal &);

} // namespace nw::bench

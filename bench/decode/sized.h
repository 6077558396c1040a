// SPDX-License-Identifier: MIT
// Products at several batches, each beside that of batch 1.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/decode_times.h"
#include "bench/goals.h"

namespace nw::bench {

// What a shape's table is printed and judged by.
struct Sized {
    DecodeJob job;
    DecodeTime time;
    f64 of_m1 = 0; // this time by that of batch 1; 0: batch 1 was not run
};

std::vector<Sized> time_sized(const std::vector<DecodeJob> &);
void print_sized(const std::vector<Sized> &, const std::string &gfx, const Bound &);
nlohmann::json to_json(const Sized &, const Bound &);

// Weights of 8 MiB and more: from there on goals hold.
bool is_large(const ProductShape &);
// The row of the largest or smallest value of those that `value` has one for (above zero).
void add_goal(std::vector<Goal> &, const std::vector<Sized> &, const std::string &what, f64 goal,
              bool at_most, const std::function<f64(const Sized &)> &value);

} // namespace nw::bench

// SPDX-License-Identifier: MIT
// The suites of nw_bench. Each is a program of its own, so that a run builds one of them: nw_bench
// reads the command line and starts the suite's.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bench/options.h"
#include "formats/packed/linear_shapes.h"

namespace nw::bench {

struct Suite {
    std::string_view name; // build/bin/suites/<name>, made by the target nw_bench_<name>
    std::string_view help;
    std::vector<u32> m = {};                     // rows of activations where --m says nothing
    std::vector<std::string_view> families = {}; // whose kernels it launches; empty: the library's
    std::vector<std::string_view> others = {};   // and families that are not the library's
    bool kernels = true;                         // false: it launches none
    std::vector<std::string_view> tables = {};   // values of --table
    bool only = true, page = false;              // whether it reads --only, --html
};

// Throws Usage naming the suites there are.
const Suite &suite_of(const std::string &name);
std::string suites_help();

// Throws Usage for options that the suite does not read.
void check_options(const Suite &, const Options &);
// Throws Usage: no row's name matches --only.
[[noreturn]] void no_row(const Options &, std::string_view of);

using Shapes = std::vector<LinearShape>; // of bench/shapes.csv

// The rows of one model; throws Usage naming the models there are.
Shapes layers_of(const Shapes &, const std::string &model);

} // namespace nw::bench

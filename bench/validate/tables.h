// SPDX-License-Identifier: MIT
// The groups of the suite validate: hardware's figures, which the model must reproduce.
#pragma once
#include <functional>
#include <map>

#include "base/pattern.h"
#include "bench/fit.h"
#include "bench/result.h"
#include "hip/hip.h"

namespace nw::bench {

// A run on a model: one device per gfx for all groups, new at the beginning.
struct ModelRun {
    Pattern only;             // of names of facts
    std::string profile = {}; // constants of gfx1151's part; empty: the model's
    u64 at_once = 1;          // runs at the same time
    std::function<void(const Json &row)> done = {}; // called for each row
    std::map<std::string, hip::Device> devices = {};

    const hip::Device &device(const std::string &gfx);
};

// The facts that `only` selects; may be empty.
Json measure_cycles(ModelRun &);
Json measure_cliff(ModelRun &);
Json measure_decode(ModelRun &);
Json measure_dispatch(ModelRun &);
Json measure_traces(ModelRun &);
Json measure_facts(ModelRun &);             // of the groups that a device measures
Json print_facts(ModelRun &, bool verbose); // of all groups, as they are measured
// Each prints its legend and returns the table of the rows.
Table begin_cycles(bool verbose);
Table begin_cliff(bool verbose);
Table begin_decode(bool verbose);
Table begin_dispatch(bool verbose);
Table begin_traces(bool verbose);
// The errors of the group.
void summarize_cycles(const Json &rows);
void summarize_cliff(const Json &rows);
void summarize_decode(const Json &rows);
void summarize_dispatch(const Json &rows);
void summarize_traces(const Json &rows);

// fact, group, published, modelled, error_pct
Json validated(const std::string &fact, std::string_view group, f64 published, f64 modelled);
// "12 rows: MAPE 2.10 %, worst +5.30 % (name)"
std::string summary(const Json &rows);

} // namespace nw::bench

// SPDX-License-Identifier: MIT
// The groups of the suite validate: figures that hardware has and the model must have too.
#pragma once
#include <functional>
#include <map>

#include "base/pattern.h"
#include "bench/fit.h"
#include "bench/result.h"
#include "hip/hip.h"

namespace nw::bench {

// What is run, and on which model: one device of a gfx for all groups, which begin as new.
struct ModelRun {
    Pattern only;             // of names of facts
    std::string profile = {}; // constants of gfx1151's part; empty: as they are
    u64 at_once = 1;          // so many of these
    std::function<void(const Json &row)> done = {}; // told of each row
    std::map<std::string, hip::Device> devices = {};

    const hip::Device &device(const std::string &gfx);
};

// The facts that were asked for, which may be none.
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

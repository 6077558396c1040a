// SPDX-License-Identifier: MIT
// From what `nw micro` measured on a card to a profile that makes the model measure the same.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "measure/micro/report.h"
#include "sim/timing/profile.h"

namespace nw::cli {

// How a row answers to its constant.
enum class Answer : u8 {
    adds,         // both grow by the same amount
    proportional, // twice the constant, twice the row
    inverse,      // twice the constant, half the row
};

// One constant, and the row that tells it.
struct Told {
    std::string constant;
    bool of_part; // a row of parts.inc, not of costs.inc
    std::string row;
    Answer answer;
    f64 scale; // units of the row in one of the constant (adds)
};

// Which rows tell which constants of a part. What the part does not have is left out.
std::vector<Told> told(const sim::timing::Part &);

// One constant, before and after.
struct Fitted {
    Told told;
    f64 before, after;
    f64 card, model; // the row, on the card and on the fitted model
    std::string why; // empty when fitted; else why the constant keeps what it had
};

struct Fit {
    sim::timing::Profile profile;
    std::vector<Fitted> constants;
    std::vector<std::string> untold;  // constants that no measurement tells
    std::vector<std::string> unknown; // rows of the card that this build doesn't measure
};

// Measures the rows whose names are given on the model with a profile.
using Measure = std::function<micro::Report(const sim::timing::Profile &,
                                            const std::vector<std::string> &names)>;

inline constexpr u32 most_rounds = 8; // of measuring

// Changes constants until the model measures what the card did, or a constant turns out not to
// move its row. `known`: all names that this build can measure.
Fit fit(const micro::Report &card, const sim::timing::Part &, const Measure &,
        const std::vector<std::string> &known);

} // namespace nw::cli

// SPDX-License-Identifier: MIT
// Fits a profile to a card's `nw micro` rows, so that the model measures the same.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/micro/report.h"
#include "sim/timing/constants/profile.h"

namespace nw::cli {

// How a row depends on its constant.
enum class Answer : u8 {
    adds,         // both grow by the same amount
    proportional, // twice the constant, twice the row
    inverse,      // twice the constant, half the row
};

// A constant and the row that determines it.
struct Told {
    std::string constant;
    bool of_part; // a row of parts.inc, not of costs.inc
    std::string row;
    Answer answer;
    f64 scale; // units of the row in one of the constant (adds)
};

// The rows that determine each constant of a part, without those that the part lacks.
std::vector<Told> told(const sim::timing::Part &);

// Why no row determines the constant; empty if it is not known here.
std::string_view why_untold(std::string_view constant);

// One constant, before and after.
struct Fitted {
    Told told;
    f64 before, after;
    f64 card, model; // the row, on the card and on the fitted model
    std::string why; // empty when fitted; else why the constant is unchanged
};

struct Fit {
    sim::timing::Profile profile;
    std::vector<Fitted> constants;
    std::vector<std::string> untold;  // constants that no measurement determines
    std::vector<std::string> unknown; // rows of the card that this build doesn't measure
};

// Measures the named rows on the model with a profile.
using Measure = std::function<micro::Report(const sim::timing::Profile &,
                                            const std::vector<std::string> &names)>;

inline constexpr u32 most_rounds = 8; // of measuring

// Adjusts constants until the model's rows match the card's, or a constant has no effect on its
// row. `known`: all names that this build can measure.
Fit fit(const micro::Report &card, const sim::timing::Part &, const Measure &,
        const std::vector<std::string> &known);

} // namespace nw::cli

// SPDX-License-Identifier: MIT
// Reproducible figures of every kernel, kept in bench/golden so that a change that makes one worse
// is noticed.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::bench {

// By name: slots, vgprs, lds_bytes, waves_per_simd, "us 2048x2048". Less is better, except for
// waves.
using Figures = std::map<std::string, f64>;
using Golden = std::map<std::string, Figures>;     // by symbol
using GoldenOfAll = std::map<std::string, Golden>; // by gfx

// A line is a kernel on the targets where it has the same figures; "gfx103x" matches any last
// digit.
std::string to_text(const GoldenOfAll &);
// Throws Error naming the file if the text is invalid.
GoldenOfAll read_golden(const std::string &path);

// A line each: "decode_w4a16_...: slots 9.62 -> 10.1, +5.0 %".
struct GoldenChanges {
    std::vector<std::string> worse, better; // by more than the tolerance
    std::vector<std::string> added, gone;   // kernels, and figures of kernels
    bool none() const { return worse.empty() && better.empty() && added.empty() && gone.empty(); }
};
GoldenChanges compare(const Golden &before, const Golden &now, f64 tolerance_pct);

// Figures of every built kernel of each gfx, references excepted: registers, LDS and occupancy, and
// for the families of figures.cpp slots of a small product and a few modelled times.
GoldenOfAll measure_golden(const std::vector<std::string> &gfx);

} // namespace nw::bench

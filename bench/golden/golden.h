// SPDX-License-Identifier: MIT
// The figures of every kernel that a run gives again and again, kept in bench/golden: a change that
// makes one worse is seen.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::bench {

// By name: slots, vgprs, lds_bytes, waves_per_simd, "us 2048x2048". Less is better, but of waves.
using Figures = std::map<std::string, f64>;
using Golden = std::map<std::string, Figures>;     // by symbol
using GoldenOfAll = std::map<std::string, Golden>; // by gfx

// A line is a kernel on the targets where it has the same figures; "gfx103x" are all that begin so.
std::string to_text(const GoldenOfAll &);
// Throws Error naming the file where it is no such text.
GoldenOfAll read_golden(const std::string &path);

// A line each: "decode_w4a16_...: slots 9.62 -> 10.1, +5.0 %".
struct GoldenChanges {
    std::vector<std::string> worse, better; // by more than the tolerance
    std::vector<std::string> added, gone;   // kernels, and figures of kernels
    bool none() const { return worse.empty() && better.empty() && added.empty() && gone.empty(); }
};
GoldenChanges compare(const Golden &before, const Golden &now, f64 tolerance_pct);

// The figures of every kernel of each gfx that is built and no reference: what the catalogue says,
// and of the families that figures.cpp knows how to run, slots of a small product and a few
// modelled times.
GoldenOfAll measure_golden(const std::vector<std::string> &gfx);

} // namespace nw::bench

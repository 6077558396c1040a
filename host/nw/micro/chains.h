// SPDX-License-Identifier: MIT
// Chains of copies of an instruction, which a wave alone times with the shader clock.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/targets.h"
#include "hip/hip.h"
#include "nw/micro/line.h"

namespace nw::cli {

// Code that is timed: repetition n is lines(n).
struct Chain {
    std::function<std::string(u32)> lines;
};

Chain dependent(const std::string &text); // the same text each time
Chain independent(const Line &);
Chain independent_beside(const Line &); // its results in other registers than independent()'s
Chain alternating(const Line &, const Line &beside);

// A code object that times all of them, one after the other. Throws Error with the assembler's
// messages.
std::string chains_object(const Target &, const std::vector<Chain> &);
// Cycles of a repetition of each of `count` chains: the slope between few and many repetitions, the
// median of the passes.
std::vector<f64> run_chains(const hip::Device &, const std::string &object, size_t count);
std::vector<f64> cycles(const hip::Device &, const std::vector<Chain> &);

// Cost of a pair of alternating instructions, relative to the cost of each alone. `issue`: the pair
// takes the two cycles that a wave needs to issue two instructions, so nothing shows.
enum class Company { hinder, collide, overlap_in_part, overlap, issue };
Company company(f64 one, f64 other, f64 pair);

} // namespace nw::cli

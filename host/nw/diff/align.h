// SPDX-License-Identifier: MIT
// Two versions of a kernel beside each other: which blocks are the same, and what changed in them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "lint/survey.h"

namespace nw::cli {

// Of A, of B, or of both.
struct AlignedBlock {
    std::optional<u32> a, b;
    f64 similarity = 0; // of their mnemonics, 0 to 1; 1 where they are the same
};

// In the order of A's and B's reverse postorders, so that the sum of what is alike is the most.
std::vector<AlignedBlock> align(const lint::Survey &a, const lint::Survey &b);

// A line of a diff: '-' of A, '+' of B, ' ' of both.
struct DiffLine {
    char mark;
    u32 a = 0, b = 0; // indices; where the mark says so
};
// The shortest way from one list to the other.
std::vector<DiffLine> diff(const std::vector<std::string> &a, const std::vector<std::string> &b);

// Instructions of a block as text; of branches only what they are: targets move.
std::vector<std::string> lines_of(const lint::Survey &, u32 block);

} // namespace nw::cli

// SPDX-License-Identifier: MIT
// Aligns the basic blocks of two versions of a kernel, and diffs their instructions.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "lint/survey.h"

namespace nw::cli {

// A block of A, of B, or a matched pair.
struct AlignedBlock {
    std::optional<u32> a, b;
    f64 similarity = 0; // of their mnemonics, 0 to 1; 1 where they are the same
};

// In reverse postorder of A and B, with maximal total similarity.
std::vector<AlignedBlock> align(const lint::Survey &a, const lint::Survey &b);

// A line of a diff: '-' in A, '+' in B, ' ' in both.
struct DiffLine {
    char mark;
    u32 a = 0, b = 0; // indices; where the mark says so
};
// The shortest edit script from one list to the other.
std::vector<DiffLine> diff(const std::vector<std::string> &a, const std::vector<std::string> &b);

// Instructions of a block as text; branches without their targets, which move.
std::vector<std::string> lines_of(const lint::Survey &, u32 block);

} // namespace nw::cli

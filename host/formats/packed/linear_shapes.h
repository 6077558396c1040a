// SPDX-License-Identifier: MIT
// The linear layers of models, from a CSV file as bench/shapes.csv.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw {

struct LinearShape {
    std::string model, layer;
    u32 n = 0, k = 0, count = 0; // count: of the model; 0: not in its sums
    bool moe = false;
    u32 experts = 0, top_k = 0; // of a mixture of experts
};

// Throws Error naming file and line if a row doesn't match the header.
std::vector<LinearShape> read_shapes(const std::filesystem::path &);

} // namespace nw

// SPDX-License-Identifier: MIT
// The linear layers of models: bench/shapes.csv.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::bench {

struct LinearShape {
    std::string model, layer;
    u32 n = 0, k = 0;
    bool moe = false;
};

// Throws Error naming file and line where a row is not as the header says.
std::vector<LinearShape> read_shapes(const std::filesystem::path &);

// The rows of one model; throws Usage naming the models there are.
std::vector<LinearShape> layers_of(const std::vector<LinearShape> &, const std::string &model);

} // namespace nw::bench

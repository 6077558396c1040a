// SPDX-License-Identifier: MIT
// nw tune --family gguf: the fastest strategy for each product with GGUF weights.
#pragma once
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::cli {

struct GgufTuning {
    std::string gfx, device, out; // out: the table
    std::string shapes = "bench/shapes.csv";
    std::vector<std::string> types = {"q4_K"};
    std::vector<u32> m; // empty: the family's
    u32 repeats = 21;
    bool dry_run = false;
};

void tune_gguf(GgufTuning);

} // namespace nw::cli

// SPDX-License-Identifier: MIT
// nw atlas --suite: every kernel of a suite, run on a device.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::cli {

struct AtlasRunOptions {
    std::string device; // empty: NIBBLEWAVE_DEVICE
    std::string shapes = "bench/shapes.csv";
    std::vector<std::string> models, types; // empty: all
    std::vector<u32> m = {1, 2, 4, 8, 9, 16, 23, 32};
    std::string only; // regular expression for names of products
    u32 repeats = 21; // on a card
};

// The rows; reports skipped products on stderr. Throws Error if there is nothing to run.
std::vector<nlohmann::ordered_json> atlas_run(const AtlasRunOptions &);       // suite gguf
std::vector<nlohmann::ordered_json> atlas_attention(const AtlasRunOptions &); // of m queries

} // namespace nw::cli

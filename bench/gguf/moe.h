// SPDX-License-Identifier: MIT
// Of the suite `gguf`: expert layers with GGUF weights, slot by slot and in blocks of one expert.
#pragma once
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "formats/linear_shapes.h"

namespace nw::bench {

// Prints the table of what --only leaves, which may be nothing, and gives its rows.
nlohmann::json run_gguf_moe(const Options &, const std::vector<LinearShape> &,
                            const std::string &gfx);

} // namespace nw::bench

// SPDX-License-Identifier: MIT
// Products with GGUF weights by each way there is, from 1 row of activations to 64: which is the
// fastest, and where they cross.
#pragma once
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "bench/shapes.h"

namespace nw::bench {

// Rows of activations that show each crossing.
std::vector<u32> crossover_rows();

// Prints the tables; the rows, for --json.
nlohmann::json run_gguf_crossover(const Options &, const std::vector<LinearShape> &);

} // namespace nw::bench

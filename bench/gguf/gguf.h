// SPDX-License-Identifier: MIT
// The suite `gguf`: modelled times of products with GGUF weights as the file has them, on the dense
// layers of models that people run so.
#pragma once
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "bench/shapes.h"

namespace nw::bench {

// Bytes of weights from which on goals of the suite hold; and what its rows are called:
inline constexpr u64 gguf_goal_bytes = u64{16} << 20;
// "MODEL LAYER NxK TYPE mM"
std::string gguf_name(const LinearShape &, std::string_view type, u32 m);

// A row for each layer and m that --only matches, printed; as JSON. Throws Usage where there is
// none.
nlohmann::json run_gguf(const Options &, const std::vector<LinearShape> &);

} // namespace nw::bench

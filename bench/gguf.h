// SPDX-License-Identifier: MIT
// The suite `gguf`: modelled times of products with GGUF weights as the file has them, on the dense
// layers of models that people run so.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "options.h"
#include "shapes.h"

namespace nw::bench {

// A row for each layer and m that --only matches, printed; as JSON. Throws Usage where there is
// none.
nlohmann::json run_gguf(const Options &, const std::vector<LinearShape> &);

} // namespace nw::bench

// SPDX-License-Identifier: MIT
// From a plain tile to prefill_w4a16, an idea at a time.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"

namespace nw::bench {

// A row for each shape and step, of f16, symmetric, gfx1151: printed; as JSON.
nlohmann::json prefill_ladder(const Options &);

} // namespace nw::bench

// SPDX-License-Identifier: MIT
// The suite `prefill`: modelled times of prefill_w4a16 on published shapes, beside published
// speeds.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"

namespace nw::bench {

// A row for each shape, m, dtype and form of zero points that --only matches, printed; as JSON.
nlohmann::json run_prefill(const Options &);

} // namespace nw::bench

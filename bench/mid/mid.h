// SPDX-License-Identifier: MIT
// The suite `mid`: modelled times of 1 to 64 rows of activations on published shapes, each beside
// that of one row.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"

namespace nw::bench {

// A row for each shape, m, dtype and form of zero points that --only matches, printed; as JSON.
nlohmann::json run_mid(const Options &);

} // namespace nw::bench

// SPDX-License-Identifier: MIT
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"

namespace nw::bench {

// The suite `pack`: a checkpoint of each format packed on all cores, from the page cache, beside a
// plain copy of the same file on all cores.
nlohmann::json run_pack(const Options &);

} // namespace nw::bench

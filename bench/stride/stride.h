// SPDX-License-Identifier: MIT
// The suite `stride`: what the distance of rows of weights does to modelled times.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"

namespace nw::bench {

// Prints the published products with rows as they are and padded, by our kernel, and a scan of
// paddings. Returns the rows. Throws Usage for options that nothing fits.
nlohmann::json run_stride(const Options &);

} // namespace nw::bench

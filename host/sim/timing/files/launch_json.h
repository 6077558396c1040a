// SPDX-License-Identifier: MIT
// A launch as one line of JSON, for HIPSIM_STATS and `nw time`.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "sim/func/machine.h"
#include "sim/timing/result.h"

namespace nw::sim::timing {

// Omits the timing keys when `times` is null.
nlohmann::ordered_json launch_json(const Dispatch &, const Device &, const RunStats &,
                                   const Result *times);

} // namespace nw::sim::timing

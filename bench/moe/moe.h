// SPDX-License-Identifier: MIT
// The suite `moe`: the expert layers of models through moe_w4a16, checked and timed.
#pragma once
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "formats/linear_shapes.h"
#include "hip/hip.h"

namespace nw::bench {

// On a device that was opened with timing on; fills `rows`, gives the number of outputs outside the
// error bound. Throws Usage where --only leaves nothing.
u64 run_moe(const Options &, const std::vector<LinearShape> &, const hip::Device &,
            nlohmann::json &rows);

} // namespace nw::bench

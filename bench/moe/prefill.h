// SPDX-License-Identifier: MIT
// Of the suite `moe`, many tokens: moe_align and moe_prefill_w4a16, timed.
#pragma once
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/options.h"
#include "formats/linear_shapes.h"
#include "hip/hip.h"

namespace nw::bench {

// On a device that was opened with timing on; adds to `rows`. False where --only leaves nothing.
bool run_moe_prefill(const Options &, const std::vector<LinearShape> &, const hip::Device &,
                     nlohmann::json &rows);

} // namespace nw::bench

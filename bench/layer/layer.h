// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "bench/layer/row.h"
#include "bench/options.h"
#include "bench/shapes.h"
#include "bench/stats.h"
#include "hip/hip.h"

namespace nw::bench {

// The suite `layer`: the linear layers of one decoder layer of a model through every decode kernel
// of the device's gfx. Rows of a kernel that is not a reference come in the order layer, dtype, m.
// Throws Usage for options that nothing fits.
std::vector<Row> run_layer(const Options &, const std::vector<LinearShape> &, const hip::Device &,
                           StatsFile &);

} // namespace nw::bench

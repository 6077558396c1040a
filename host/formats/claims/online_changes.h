// SPDX-License-Identifier: MIT
// Entries of a config that change the product itself.
#pragma once
#include <string>
#include <vector>

#include "formats/claims/quantization_config.h"

namespace nw {

// Problems: rotations and other transforms of activations at run time, low-rank matrices that are
// added, and sparse weights; each with its place. A product of the packed weights without them is
// wrong. Transforms that are in the weights already are none.
std::vector<std::string> online_changes(const QuantizationConfig &);

} // namespace nw

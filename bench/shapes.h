// SPDX-License-Identifier: MIT
// The linear layers of a model.
#pragma once
#include "formats/linear_shapes.h"

namespace nw::bench {

// The rows of one model; throws Usage naming the models there are.
std::vector<LinearShape> layers_of(const std::vector<LinearShape> &, const std::string &model);

} // namespace nw::bench

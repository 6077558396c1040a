// SPDX-License-Identifier: MIT
// The tables of the suite decode. Each prints its rows, which may be none.
#pragma once
#include "base/pattern.h"
#include "bench/product.h"
#include "bench/result.h"

namespace nw::bench {

// Our kernels on the products with published times of gfx1151.
Json decode_published(const Options &, const Pattern &only);
// Time of a token of each model, from the rows of its dense layers.
Json model_view(const std::vector<DenseJob> &, const Json &rows, const Shapes &);
// Gain of each optimization in decode_w4a16: times and slots with it and without.
Json decode_ablations(const Options &, const Pattern &only);

} // namespace nw::bench

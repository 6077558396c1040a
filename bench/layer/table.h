// SPDX-License-Identifier: MIT
// What one kernel did on one shape, and how that is shown.
#pragma once
#include <optional>

#include "bench/errors.h"
#include "bench/product.h"
#include "bench/suites.h"
#include "hip/hip.h"

namespace nw::bench {

// _wrong: how many outputs are outside the error bound, where there are any.
Json layer_row(const Kernel &, const ProductShape &, const Errors &,
               const std::optional<Instructions> &);

// The chosen kernels, one line a layer, dtype and m, with the slots of the older kernels beside;
// with --verbose, every row too, instructions by class.
void print_layers(const Json &rows, const Options &, const hip::DeviceInfo &);

} // namespace nw::bench

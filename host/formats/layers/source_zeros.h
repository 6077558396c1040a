// SPDX-License-Identifier: MIT
#pragma once
#include "formats/layers/source_linear.h"

namespace nw {

// Decides what a layer's stored zero points are, by their values and what the config says: the
// version of GPTQ, and whether the layer is symmetric; a layer with one a row gets groups.
// `slices`: matrices of the tensors. Throws Error: values that contradict the config, or GPTQ's of
// an asymmetric layer whose version nothing says.
void read_zeros(SourceLinear &, const Tensor &zeros, u64 slices, const Claims &);

} // namespace nw

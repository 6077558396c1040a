// SPDX-License-Identifier: MIT
// Shared by readers of several formats.
#pragma once
#include "formats/layers/source_linear.h"

namespace nw {

// Gives a layer with zero points and one scale a row groups, which the kernels need there: the
// largest of 128, 64 and 32 that divide K, each with the row's scale and zero point. Returns false
// where none does.
bool spread_over_groups(SourceLinear &);

// Sets the name from that of a layer, and the expert where it has the number of one.
void name_linear(SourceLinear &, std::string layer, bool stacked);

// Why a tensor is part of no layer that can be packed, where it is of another 4-bit format; else
// empty.
std::string other_format(const Checkpoint &, const Tensor &);

} // namespace nw

// SPDX-License-Identifier: MIT
// Quantized layouts that nothing here reads, by their names.
#pragma once
#include <string>
#include <string_view>

#include "formats/safetensors/checkpoint.h"

namespace nw {

// The layout of a quant_method, checkpoint_format or version of a config, in lower case: "AQLM" for
// "aqlm"; "" for one that is read and for an unknown one.
std::string_view foreign_layout(std::string_view value);

// The layout that a tensor of this name is a part of, by the name and its module's other tensors:
// "EXL2" for NAME.q_weight beside NAME.q_groups; "" if of none.
std::string_view foreign_layout(const Checkpoint &, const Tensor &);

} // namespace nw

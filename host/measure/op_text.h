// SPDX-License-Identifier: MIT
// Ops as text: rms_norm y_type=f16 m=1 k=4096.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "runtime/op.h"

namespace nw {

// An op of this kind with these sizes and values: NAME=VALUE, words and names as in the contracts
// (asm/ops, asm/<family>). Floats are decimal. Throws Error for a name or a value that there is
// not.
Op parse_op(std::string_view kind, std::span<const std::string> values);

std::string kind_names(); // "attention, ..."

} // namespace nw

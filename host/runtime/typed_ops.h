// SPDX-License-Identifier: MIT
// Ops as host code writes them down: members named as in their contracts, with types,
// made from asm/ops/<op>/op.toml by gen/faces/c_functions.py. Sizes are counts of elements, strides
// are bytes.
#pragma once
#include <bit>
#include <string_view>

#include "runtime/op.h"

namespace nw::ops {

#include "typed_ops.inc"

} // namespace nw::ops

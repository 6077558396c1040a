// SPDX-License-Identifier: MIT
// Products of many rows with GGUF weights as dot_gguf defines them, with every rounding of f32.
#pragma once
#include <span>
#include <vector>

#include "ref/gguf_product.h"

namespace nw::ref {

// f32 [m, n], bit-equal to dot_gguf (asm/dot_gguf/dot_gguf.s.j2): `parts` of k, of whole 256 each,
// whose sums are added in their order. Throws Error as gguf_decode does, or for parts = 0.
std::vector<f32> dot_gguf(const GgufProduct &, u32 parts);

} // namespace nw::ref

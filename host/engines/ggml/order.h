// SPDX-License-Identifier: MIT
#pragma once

struct ggml_cgraph;

namespace nw::engine {

// Products of one tensor by quantized weights become neighbours, each with the addition of its
// bias: so they have memory of their own, and what follows each of them is without gaps. Before
// memory is allocated.
void gather_products(ggml_cgraph *);

} // namespace nw::engine

// SPDX-License-Identifier: MIT
// Two products of one row with a gated unit behind them.
#pragma once
#include <nibblewave.h>

#include "engines/ggml/one_row.h"

namespace nw::engine {

// Gate, up and SwiGLU at these three nodes as one call, behind a norm if there is one. False if
// they are something else, or if the result would overwrite the row.
bool map_gated(Queue &, const ggml_cgraph *, int first, const NormedRow &, nw_gguf_moe_act &);

} // namespace nw::engine

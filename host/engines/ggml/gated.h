// SPDX-License-Identifier: MIT
// Two products of one row with a gated unit behind them.
#pragma once
#include <nibblewave.h>

#include "engines/ggml/one_row.h"

namespace nw::engine {

// Products by weights of one shape and a SwiGLU of both; of nothing, if these nodes are others.
struct Gated {
    const ggml_tensor *gate = nullptr, *up = nullptr, *glu = nullptr;

    explicit operator bool() const { return glu; }
};
Gated gated_at(const ggml_cgraph *, int first);

// Gate, up and SwiGLU at these three nodes as one call, behind a norm if there is one. False if
// they are something else, or if the result would overwrite the row.
bool map_gated(Queue &, const ggml_cgraph *, int first, const NormedRow &, nw_gguf_moe_act &);

} // namespace nw::engine

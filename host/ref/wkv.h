// SPDX-License-Identifier: MIT
// Linear attention with a state of each head, in f64: RWKV 6 and 7, gated linear attention.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::ref {

// Vectors of a head at a token, of d elements each.
struct WkvToken {
    std::span<const f32> q, k, v, g, bonus, remove, replace;
    f64 scale = 1;
};

// Moves a state [d, d] of function rwkv6, gla or rwkv7 a token on, and returns the results. With
// `sizes` for each of both the sum of magnitudes that went into it: what rounding errors scale
// with.
struct WkvStep {
    std::vector<f64> o, of_o, of_state;
};
WkvStep wkv_step(std::string_view function, std::vector<f64> &state, const WkvToken &,
                 std::span<const f64> of_state);

} // namespace nw::ref

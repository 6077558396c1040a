// SPDX-License-Identifier: MIT
// The gated delta rule, in f64.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

// The value head's key head.
u32 gated_delta_key_head(u32 head, u32 h, u32 hk, bool interleaved);

// A token of one head. Rows of the states are of v, columns of q and k.
struct GatedDeltaToken {
    std::span<const f32> q, k, v, g; // g: one element, or one per column
    f32 beta, scale;
};

struct GatedDeltaStep {
    std::vector<f64> decayed; // the state times exp(g)
    std::vector<f64> u;       // beta * (v - decayed * k)
    std::vector<f64> state;   // decayed + u k^T
    std::vector<f64> o;       // scale * state * q
};

// exp(g) is infinite where f32 can't hold it.
GatedDeltaStep gated_delta_step(std::span<const f64> state, const GatedDeltaToken &);

} // namespace nw::ref

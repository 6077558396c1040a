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
    std::vector<f64> q, k, v, g; // g: one element, or one per column
    f64 beta, scale;
};

// Gates and norms of a layer around the rule, of one head; g and beta of its tokens are raw.
struct GatedDeltaLayer {
    f64 a, dt, unit_eps, norm_eps;
    std::vector<f64> z, norm;
};

// The token that the rule takes: its gates, and q and k as unit vectors.
GatedDeltaToken gated_delta_of_layer(const GatedDeltaToken &, const GatedDeltaLayer &);
// o / sqrt(mean of o^2 + norm_eps) * norm * z / (1 + exp(-z)). A sum of squares that f32 can't hold
// is infinite.
std::vector<f64> gated_delta_gated(std::span<const f64> o, const GatedDeltaLayer &);

struct GatedDeltaStep {
    std::vector<f64> decayed; // the state times exp(g)
    std::vector<f64> u;       // beta * (v - decayed * k)
    std::vector<f64> state;   // decayed + u k^T
    std::vector<f64> o;       // scale * state * q
};

// exp(g) is infinite where f32 can't hold it.
GatedDeltaStep gated_delta_step(std::span<const f64> state, const GatedDeltaToken &);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// The selective scan of state space models, in f64.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

// A row's part of a token.
struct SsmToken {
    f32 x, dt;
    std::span<const f32> a;    // of the head: 1, or one for each element of the state
    std::span<const f32> k, q; // Mamba's B and C
};

struct SsmStep {
    f64 o = 0, of_o = 0; // of_: sums of magnitudes, and the relative error that t brings in
    std::vector<f64> of_state;
};

// log(1 + e^x), x itself above 20
f64 softplus(f64 x);

// Moves a row of a state a token on.
SsmStep ssm_scan_step(std::vector<f64> &state, const SsmToken &, std::span<const f64> of_state);

} // namespace nw::ref

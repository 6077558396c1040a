// SPDX-License-Identifier: MIT
// Short convolutions over tokens whose last inputs are kept, in f32 as the contract has it.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct ConvState {
    u32 b, n, tokens, taps;
    u32 inputs() const { return tokens + taps - 1; } // of a channel, with those before
};

// [b, n, inputs]: row rows[i] of states [.., n, taps - 1], then x[b, tokens, n].
std::vector<f32> conv_state_inputs(const ConvState &, std::span<const f32> x,
                                   std::span<const f32> states, std::span<const u32> rows);
// z[b, tokens, n]: multiply-adds from the first tap to the last, then bias; no bias: 0.
std::vector<f32> conv_state_sums(const ConvState &, std::span<const f32> inputs,
                                 std::span<const f32> w, std::span<const f32> bias);
// [b, n, taps - 1]: the last inputs.
std::vector<f32> conv_state_kept(const ConvState &, std::span<const f32> inputs);

} // namespace nw::ref

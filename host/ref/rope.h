// SPDX-License-Identifier: MIT
// Rotary position embedding, in f64.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

// A model's parameters of the rotation, as in ggml.
struct RopeModel {
    u32 pairs;
    f64 base = 10000, frequency_scale = 1;
    // YaRN's: 0 for none
    f64 extension = 0, beta_fast = 32, beta_slow = 1;
    u32 original_context = 4096;
    std::vector<f32> factors; // [pairs], or empty: 1
};

// Radians from a position to the next, of each pair.
std::vector<f64> rope_frequencies(const RopeModel &);

// Their turns times 2^64, modulo 2^64; streams[j] in the lowest two bits, empty: 0.
std::vector<u64> rope_turns(std::span<const f64> frequencies, std::span<const u32> streams);

// Rotates the pairs of one row by frequency * position, times scale. Pairs begin with element
// `first` and lie side by side, or neox: their second elements behind all first ones.
std::vector<f64> rope_row(std::span<const f32> x, std::span<const f64> frequencies,
                          std::span<const i32> position, bool neox, f64 scale, u32 first = 0);

} // namespace nw::ref

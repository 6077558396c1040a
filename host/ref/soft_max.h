// SPDX-License-Identifier: MIT
// Softmax of rows, in f64.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"
#include "ref/binary.h"

namespace nw::ref {

struct SoftMax {
    Shape n;                      // k, queries, heads, sequences
    std::span<const f32> x;       // contiguous
    std::span<const f32> mask;    // of n[0], n[1], mask_n2, mask_n3; or empty
    u32 mask_n2 = 1, mask_n3 = 1; // repeated to heads and sequences
    std::span<const f32> sinks;   // of a head; or empty
    f32 scale = 1, max_bias = 0;
};

// The mask's factor by ALiBi: powers of one base for the heads below a power of two, odd powers of
// its root for the others.
f64 alibi_slope(f64 max_bias, u32 heads, u32 head);

// The logits z; then their softmax by row.
std::vector<f64> soft_max_logits(const SoftMax &);
std::vector<f64> soft_max(const SoftMax &);

} // namespace nw::ref

// SPDX-License-Identifier: MIT
// The family attn_flash: attention as GGML_OP_FLASH_ATTN_EXT has it, in f64. Tensors are
// contiguous, elements of keys and values are given as f32.
#pragma once
#include <span>
#include <vector>

#include "base/types.h"

namespace nw::ref {

struct AttnFlash {
    u32 b, sq, sk, h, hk, d, d_v;
    f32 scale = 1, max_bias = 0, softcap = 0;
    std::span<const f32> q;       // [b, sq, h, d]
    std::span<const f32> k, v;    // [k_b, sk, hk, d], [k_b, sk, hk, d_v]
    std::span<const f32> mask;    // [mask_n3, mask_n2, sq, sk]; empty: none
    std::span<const f32> sinks;   // [h]; empty: none
    u32 k_b = 1;                  // b, or 1: sequences share keys and values
    u32 mask_n2 = 1, mask_n3 = 1; // repeated to heads and sequences
};

struct FlashResult {
    std::vector<f64> o;    // [b, sq, h, d_v]
    std::vector<f64> abs;  // of each o: sum_j p |v| / (sum_j p and the sink's)
    std::vector<f64> size; // [b, sq, h]: the largest sum of sizes in a logit that counts, of its
                           // distance from the maximum, and of the sink
};

FlashResult attn_flash(const AttnFlash &);

} // namespace nw::ref

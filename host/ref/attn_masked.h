// SPDX-License-Identifier: MIT
// The families attn_masked and attn_masked_decode: attention as GGML_OP_FLASH_ATTN_EXT has it.
#pragma once
#include <span>
#include <vector>

#include "base/half.h"
#include "base/types.h"

namespace nw::ref {

// Strides of batches, tokens and heads in elements; d is contiguous.
template <class T> struct MaskedTensor {
    std::span<const T> words;
    u64 b, s, h;
};

struct AttnMasked {
    u32 b, sq, sk, h, hk, d;
    f32 scale;
    MaskedTensor<f32> q{};
    MaskedTensor<u16> k{}, v{};
    MaskedTensor<u16> mask{};     // [b, h, sq, sk], stride 0 where one is shared; empty: none
    std::span<const f32> sinks{}; // [h]; empty: none
    f64 least_p = 0;              // p, of a largest of 1, that is kept with full precision
};

struct MaskedResult {
    std::vector<f64> o;     // [b, sq, h, d]
    std::vector<f64> abs;   // of each o: sum_j p |v| / sum_j p
    std::vector<f64> small; // the same with min(p, least_p) in the first sum
    std::vector<f64> logit; // [b, sq, h]: the largest sum of sizes in a logit that counts
};

MaskedResult attn_masked(const AttnMasked &);

} // namespace nw::ref

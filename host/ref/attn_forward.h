// SPDX-License-Identifier: MIT
// The attn_forward family: softmax(scale q k^T) v over listed blocks of 128 keys.
#pragma once
#include <span>
#include <vector>

#include "base/half.h"
#include "base/types.h"

namespace nw::ref {

// [b, s, h, d] with d contiguous; strides in elements.
struct AttnTensor {
    std::span<const u16> words;
    u64 b, s, h;
};

struct AttnForward {
    Dtype dtype;
    u32 b, sq, sk, h, hk, d;
    bool causal; // query i sees keys up to i + sk - sq
    f32 scale;
    AttnTensor q{}, k{}, v{};
    std::span<const i32> idx{}, cnt{}; // [b, h, tiles, blocks] and [b, h, tiles]; empty: all blocks
    u32 entries = 0;                   // of a list; 0: the number of blocks
    f64 least_p = 0;                   // p, of a largest of 1, that is kept with full precision
};

struct AttnResult {
    std::vector<f64> o;     // [b, sq, h, d]
    std::vector<f64> abs;   // of each o: sum_j p |v| / sum_j p
    std::vector<f64> small; // the same with min(p, least_p) in the first sum
    std::vector<f64> lse;   // [b, h, sq]
    std::vector<f64> dot;   // [b, h, sq]: the largest scale * sum_d |q k| of keys that are seen
    std::vector<u32> keys;  // [b, h, sq]: keys that are seen, with repetitions
};

AttnResult attn_forward(const AttnForward &);

} // namespace nw::ref

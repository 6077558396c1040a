// SPDX-License-Identifier: MIT
// The moe_w4a16 family in plain double arithmetic, slot by slot: a slot is one token at one of its
// experts.
//
//     Y[n]    = decode_w4a16 of row t / top_k of A and the expert's weights
//     C[t, n] = weight[t] * Y[n], or weight[t] * SiLU(Y[n]) * Y[n + N/2]     SiLU(x) = x / (1 +
//     e^-x)
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "ref/decode.h"

namespace nw::ref {

// As in DecodeW4A16.
struct Expert {
    std::span<const u8> q;
    std::span<const u16> s, bias, z;
};

struct MoeW4A16 {
    Dtype dtype;
    u32 n, k, group, block_size, slots, top_k;
    bool silu_gate_up;
    std::span<const u16> a; // [ceil(slots / top_k), K], bits of dtype
    std::span<const Expert> experts;
    std::span<const i32> expert_ids;           // [blocks]; another id than an expert's: skipped
    std::span<const i32> sorted_token_ids;     // [blocks, block_size], or empty: 0, 1, 2, ...
    std::span<const f32> topk_weights;         // [slots], or empty: 1
    std::optional<u32> num_tokens_post_padded; // blocks that begin there or later are skipped
};

// One row of C.
struct MoeSlot {
    u32 slot;
    DecodeW4A16 product; // m = 1
    DecodeResult y;      // [N]
    f64 weight;
    std::vector<f64> c; // [N], or [N/2]
};

f64 silu(f64 x);

// The rows of C that are written, in the order of the blocks; all others are unchanged. Throws
// Error if a span's size does not match the shape.
std::vector<MoeSlot> moe_w4a16(const MoeW4A16 &);

} // namespace nw::ref

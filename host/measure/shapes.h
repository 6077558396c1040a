// SPDX-License-Identifier: MIT
// Shapes of timed products.
#pragma once
#include <array>
#include <string_view>

#include "formats/gguf/gguf_types.h"
#include "runtime/w4a16.h"

namespace nw {

// The models of bench/shapes.csv whose GGUF products are timed.
inline constexpr std::array<std::string_view, 3> gguf_models = {"Qwen3.6-27B", "Llama-3.1-8B",
                                                                "Qwen3-30B-A3B"};

// A W4A16 product.
struct ProductShape {
    Dtype dtype;
    Zeros zeros;
    u32 m, n, k, group; // group may be per_row
    u64 w_stride;       // bytes

    u32 groups() const { return group == per_row ? 1 : k / group; }
    bool has_z() const { return zeros == Zeros::packed || zeros == Zeros::typed; }
    u64 s_stride() const { return u64{zeros == Zeros::carrier ? 4u : 2u} * groups(); }
    u64 z_stride() const { return has_z() ? u64{zeros == Zeros::packed ? 4u : 2u} * groups() : 0; }
    u64 z_rows() const { return zeros == Zeros::packed ? ceil_div(n, 8u) : n; }
    u64 weight_bytes() const { return n * w_stride; }
    u64 scale_bytes() const { return n * s_stride(); }
    u64 zero_bytes() const { return z_rows() * z_stride(); }
    Op op() const { // sizes and strides
        Op op = linear_w4a16(dtype, group, zeros, m, n, k);
        op.w_stride = w_stride, op.s_stride = s_stride(), op.z_stride = z_stride();
        return op;
    }
    // Least bytes that a product moves, without padding between rows.
    u64 bytes_moved() const {
        return u64{n} * k / 2 + scale_bytes() + zero_bytes() + u64{2} * m * (k + n);
    }
};

struct GgufShape {
    std::string_view type; // of gguf_types
    u32 m, n, k;

    u64 weight_bytes() const { return n * ggml_row_bytes(type, k); }
    Op op() const { // sizes and strides
        Op op = linear_gguf(type, m, n, k);
        op.x_stride = u64{4} * k;
        return op;
    }
};

struct GgufMoeShape {
    std::string_view type;     // of gguf_types
    u32 tokens, n, k;          // n, k: of an expert
    u32 experts, top_k;        // top_k: slots of a token
    bool own_rows;             // each slot has a row of activations, not each token
    std::string_view act = {}; // "none", "swiglu": with biases, n columns, of gate and up each

    u32 slots() const { return tokens * top_k; }
    u32 rows() const { return own_rows ? slots() : tokens; }
    u64 expert_bytes() const { return (act == "swiglu" ? 2 : 1) * n * ggml_row_bytes(type, k); }
    Op op() const { // its sizes
        Op op{.kind = act.empty() ? OpKind::moe_gguf : OpKind::moe_gguf_act};
        if (!act.empty())
            op.act = find_word(act);
        op.type = find_word(type);
        op.n = n, op.k = k;
        op.experts = experts, op.slots = slots(), op.top_k = own_rows ? 1 : top_k;
        return op;
    }
};

// Attention layers: all of a drafter's, and every fourth of a model with 27 billion weights.
struct AttentionLayer {
    std::string_view model;
    u32 layers, h, hk, d; // query heads, key heads
};
inline constexpr std::array attention_layers = {AttentionLayer{"Qwen3-0.6B", 28, 16, 8, 128},
                                                AttentionLayer{"Qwen3.6-27B", 16, 24, 4, 256}};

} // namespace nw

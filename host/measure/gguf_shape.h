// SPDX-License-Identifier: MIT
// Products with GGUF weights that are timed.
#pragma once
#include <array>
#include <string_view>

#include "formats/gguf_types.h"
#include "runtime/w4a16.h"

namespace nw {

// Of bench/shapes.csv, what is timed.
inline constexpr std::array<std::string_view, 3> gguf_models = {"Qwen3.6-27B", "Llama-3.1-8B",
                                                                "Qwen3-30B-A3B"};

struct GgufShape {
    std::string_view type; // of gguf_types
    u32 m, n, k;

    u64 weight_bytes() const { return n * ggml_row_bytes(type, k); }
    Op op() const { return linear_gguf(type, m, n, k); } // its sizes
};

struct GgufMoeShape {
    std::string_view type; // of gguf_types
    u32 tokens, n, k;      // n, k: of an expert
    u32 experts, top_k;    // top_k: slots of a token
    bool own_rows;         // each slot has a row of activations, not each token

    u32 slots() const { return tokens * top_k; }
    u32 rows() const { return own_rows ? slots() : tokens; }
    u64 expert_bytes() const { return n * ggml_row_bytes(type, k); }
    Op op() const { // its sizes
        Op op{.kind = OpKind::moe_gguf};
        op.type = find_word(type);
        op.n = n, op.k = k;
        op.experts = experts, op.slots = slots(), op.top_k = own_rows ? 1 : top_k;
        return op;
    }
};

} // namespace nw

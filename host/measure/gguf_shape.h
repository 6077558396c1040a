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

} // namespace nw

// SPDX-License-Identifier: MIT
// Operations of a GGUF model per token, from its tensors: products, attention, and the rest.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf/gguf_model.h"
#include "measure/shapes.h"
#include "nw/bench_model/layers.h"

namespace nw::cli {

// Tensors that differ in their layer's number alone.
struct ModelTensors {
    std::string name; // "blk.*.ffn_gate.weight"
    GgmlType type;
    u32 count = 0;
    u64 bytes = 0;              // of one
    u32 experts = 0, top_k = 0; // a token goes to top_k of them
    bool matrix = false;        // by its shape and its name: activations are multiplied with it
    bool draft = false;         // of a draft layer: no pass runs it

    // Upper bound of the bytes that a pass over `tokens` reads.
    u64 read_by(u32 tokens) const {
        return experts ? bytes / experts * std::min(u64{experts}, u64{tokens} * top_k) : bytes;
    }
};

// A product with a tensor. Its type is one of gguf_types, whether or not a kernel takes its shape.
struct ModelProduct : ModelTensors {
    std::string_view word; // of its type
    u32 n, k;              // of experts: of one
    bool own_rows = false; // of experts: each slot has a row of activations, as after the gate
    bool last_row = false; // of the last token alone: logits
};

struct ModelSummary {
    std::string architecture;
    std::vector<ModelProduct> products;
    std::vector<ModelTensors> others;      // that no product of a quantized type reads
    u64 embedding_bytes = 0;               // of a token
    u64 bytes = 0;                         // of all tensors
    std::vector<ModelAttention> attention; // of the layers whose attention is counted
    std::vector<std::string> notes;        // what isn't counted, or that the file doesn't say
};

ModelSummary summarize(const GgufModel &);

// Throws Error where a model has no product of a quantized type.
ModelSummary summarize_products(const GgufModel &);

} // namespace nw::cli

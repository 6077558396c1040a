// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "base/types.h"

namespace nw {

// Entries of config.json that names and rows depend on.
struct NamedModel {
    std::string type;            // model_type
    u32 heads = 0, kv_heads = 0; // 0: not known
};

// Rows per head of n rows of q or k whose rotary halves llama.cpp interleaves, as in llama and
// Mistral models. 0: rows stay in their order.
u32 interleaved_rows(const std::string &name, const NamedModel &, u32 n);

// The name that llama.cpp has for a tensor of such a model: "blk.3.attn_q.weight" for
// "model.layers.3.self_attn.q_proj.weight". Of Qwen2 and Qwen3, dense and mixtures of experts, and
// of llama and Mistral, of these q and k only where their rows are interleaved. Of other types, and
// where there is no such tensor, the name as it is: one expert of many, which llama.cpp has in one.
std::string gguf_name(const std::string &name, const NamedModel &, bool interleaved);

} // namespace nw

// SPDX-License-Identifier: MIT
// Whether weights are stored as [N, K], a row for each output, or [K, N], as x @ W has them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string>

#include "base/types.h"

namespace nw {

enum class Orientation : u8 { rows_first, columns_first, unknown };

// The shape according to config.json.
struct ModelShape {
    // model_type and architectures, of the model and of those in it.
    std::set<std::string> types;
    std::set<u64> hidden; // hidden_size, n_embd, d_model of language models
};
ModelShape model_shape(const nlohmann::json &config);

// Orientation of a weight, [N, K] or [K, N], with E in front for experts, by its name:
//
//   matrices  [N, K], as nn.Linear has them. c_attn, q_attn, c_proj and c_fc are [K, N] in models
//             with Conv1D (gpt2, openai-gpt, imagegpt, decision_transformer), [N, K] in others, and
//             unknown where no config says the model
//   experts   by the one dimension that is hidden_size: K of what reads it (gate, up, w1, w3, fc1,
//             input_linear), N of what writes it (down, w2, fc2, output_linear). Where that does
//             not tell, as N = K, by the model: [K, N] in gpt_oss, llama4, qwen3_vl_moe, aria; [N,
//             K] in granitemoe, jetmoe. Unknown where both tell and differ, or neither does
Orientation orientation_of(const std::string &name, std::span<const u64> shape, const ModelShape &);

} // namespace nw

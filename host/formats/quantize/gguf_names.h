// SPDX-License-Identifier: MIT
#pragma once
#include <string>

namespace nw {

// The name that llama.cpp has for a tensor of a model of this type (model_type of config.json):
// "blk.3.attn_q.weight" for "model.layers.3.self_attn.q_proj.weight". Of Qwen2 and Qwen3, dense and
// mixtures of experts. Of other types, and where there is no such tensor, the name as it is: one
// expert of many, which llama.cpp has in one tensor; llama's, whose rows of q and k it reorders.
std::string gguf_name(const std::string &name, const std::string &model_type);

} // namespace nw

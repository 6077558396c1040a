// SPDX-License-Identifier: MIT
#include "formats/quantize/gguf_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace nw {

namespace {

using Names = std::pair<std::string_view, std::string_view>;

constexpr std::array types = {"qwen2", "qwen3", "qwen2_moe", "qwen3_moe", "llama", "mistral"};

bool interleaves(const NamedModel &model) {
    return model.type == "llama" || model.type == "mistral";
}

bool is_of(std::string_view name, std::string_view projection) {
    return name.find(projection) != name.npos;
}

constexpr std::array<Names, 3> of_model = {
    {{"model.embed_tokens", "token_embd"}, {"model.norm", "output_norm"}, {"lm_head", "output"}}};

constexpr std::array<Names, 19> of_layer = {{
    {"input_layernorm", "attn_norm"},
    {"post_attention_layernorm", "ffn_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.gate", "ffn_gate_inp"},
    {"mlp.experts.gate_proj", "ffn_gate_exps"},
    {"mlp.experts.up_proj", "ffn_up_exps"},
    {"mlp.experts.down_proj", "ffn_down_exps"},
    {"mlp.shared_expert.gate_proj", "ffn_gate_shexp"},
    {"mlp.shared_expert.up_proj", "ffn_up_shexp"},
    {"mlp.shared_expert.down_proj", "ffn_down_shexp"},
    {"mlp.shared_expert_gate", "ffn_gate_inp_shexp"},
}};

} // namespace

u32 interleaved_rows(const std::string &name, const NamedModel &model, u32 n) {
    if (!interleaves(model) || !name.ends_with("_proj.weight"))
        return 0;
    const u32 heads = is_of(name, ".self_attn.q_proj.")   ? model.heads
                      : is_of(name, ".self_attn.k_proj.") ? model.kv_heads
                                                          : 0;
    return heads && n % (2 * u64{heads}) == 0 ? n / heads : 0;
}

std::string gguf_name(const std::string &name, const NamedModel &model, bool interleaved) {
    if (std::ranges::find(types, model.type) == types.end())
        return name;
    if (interleaves(model) && !interleaved &&
        (is_of(name, ".self_attn.q_proj.") || is_of(name, ".self_attn.k_proj.")))
        return name;
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos || (name.substr(dot) != ".weight" && name.substr(dot) != ".bias"))
        return name;
    const std::string module = name.substr(0, dot), end = name.substr(dot);
    for (const auto &[ours, theirs] : of_model)
        if (module == ours)
            return std::string(theirs) + end;
    constexpr std::string_view layers = "model.layers.";
    const size_t after = module.find('.', layers.size());
    if (!module.starts_with(layers) || after == std::string::npos)
        return name;
    const std::string number = module.substr(layers.size(), after - layers.size());
    if (number.empty() ||
        !std::ranges::all_of(number, [](unsigned char c) { return std::isdigit(c); }))
        return name;
    for (const auto &[ours, theirs] : of_layer)
        if (module.substr(after + 1) == ours)
            return "blk." + number + "." + std::string(theirs) + end;
    return name;
}

} // namespace nw

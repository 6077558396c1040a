// SPDX-License-Identifier: MIT
#include "formats/quantize/quantized_config.h"

#include <limits>

#include "formats/claims/python_json.h"

namespace nw {

using Json = nlohmann::json;

namespace {

// Modules of copied weights that a loader could take for quantized ones.
Json ignored(const QuantizePlan &plan) {
    Json out = Json::array();
    constexpr std::string_view end = ".weight";
    for (const auto &[index, t] : plan.copies)
        if (t->shape.size() >= 2 && t->name.ends_with(end))
            out.push_back(t->name.substr(0, t->name.size() - end.size()));
    for (const auto &[index, layer] : plan.dequantized)
        out.push_back(layer->name.substr(0, layer->name.size() - end.size()));
    return out;
}

// Keys that describe the former quantization, at any depth.
void erase_claims(Json &config) {
    for (const char *key : {"quantization_config", "compression_config"})
        config.erase(key);
    if (const auto mlx = config.find("quantization"); mlx != config.end() && mlx->is_object())
        config.erase("quantization");
    for (Json &part : config)
        if (part.is_object())
            erase_claims(part);
}

} // namespace

NamedModel named_model(const Json &config) {
    NamedModel out;
    if (config.contains("model_type") && config["model_type"].is_string())
        out.type = config["model_type"].get<std::string>();
    const auto number = [&](const char *key) {
        const auto found = config.find(key);
        constexpr u64 most = std::numeric_limits<u32>::max();
        return found != config.end() && found->is_number_unsigned() && found->get<u64>() <= most
                   ? found->get<u32>()
                   : 0;
    };
    out.heads = number("num_attention_heads");
    out.kv_heads = config.contains("num_key_value_heads") ? number("num_key_value_heads")
                                                          : out.heads; // as readers of it assume
    return out;
}

std::string quantized_config(Json config, const QuantizePlan &plan, const QuantizeOptions &o) {
    const Json weights = {
        {"num_bits", 4},       {"type", "int"},         {"symmetric", !o.zero_points},
        {"strategy", "group"}, {"group_size", o.group}, {"dynamic", false},
        {"actorder", nullptr}};
    const Json group = {{"targets", {"Linear"}},
                        {"weights", weights},
                        {"input_activations", nullptr},
                        {"output_activations", nullptr}};
    erase_claims(config);
    config["quantization_config"] = {{"quant_method", "compressed-tensors"},
                                     {"format", "pack-quantized"},
                                     {"quantization_status", "compressed"},
                                     {"config_groups", {{"group_0", group}}},
                                     {"ignore", ignored(plan)}};
    return python_json_text(std::move(config));
}

} // namespace nw

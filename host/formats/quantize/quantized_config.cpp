// SPDX-License-Identifier: MIT
#include "formats/quantize/quantized_config.h"

#include <limits>

#include "base/error.h"
#include "formats/json.h"
#include "formats/mapped_file.h"

namespace nw {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr u32 config_depth = 32;

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

} // namespace

std::optional<Json> model_config(std::span<const fs::path> inputs) {
    for (const fs::path &input : inputs) {
        const fs::path path = input / "config.json";
        std::error_code none;
        if (!fs::is_directory(input, none) || !fs::exists(path, none))
            continue;
        const MappedFile file(path);
        const auto text = reinterpret_cast<const char *>(file.bytes().data());
        Json config = parse_json({text, file.bytes().size()}, path.string(), config_depth);
        if (!config.is_object())
            throw Error(path.string() + ": is not a JSON object");
        return config;
    }
    return std::nullopt;
}

NamedModel named_model(std::span<const fs::path> inputs) {
    const std::optional<Json> config = model_config(inputs);
    NamedModel out;
    if (!config)
        return out;
    if (config->contains("model_type") && (*config)["model_type"].is_string())
        out.type = (*config)["model_type"].get<std::string>();
    const auto number = [&](const char *key) {
        const auto found = config->find(key);
        constexpr u64 most = std::numeric_limits<u32>::max();
        return found != config->end() && found->is_number_unsigned() && found->get<u64>() <= most
                   ? found->get<u32>()
                   : 0;
    };
    out.heads = number("num_attention_heads");
    out.kv_heads = config->contains("num_key_value_heads") ? number("num_key_value_heads")
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
    config.erase("compression_config");
    config.erase("quantization"); // MLX's
    config["quantization_config"] = {{"quant_method", "compressed-tensors"},
                                     {"format", "pack-quantized"},
                                     {"quantization_status", "compressed"},
                                     {"config_groups", {{"group_0", group}}},
                                     {"ignore", ignored(plan)}};
    return config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace nw

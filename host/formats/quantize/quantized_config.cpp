// SPDX-License-Identifier: MIT
#include "formats/quantize/quantized_config.h"

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

std::string model_type(std::span<const fs::path> inputs) {
    const std::optional<Json> config = model_config(inputs);
    return config && config->contains("model_type") && (*config)["model_type"].is_string()
               ? (*config)["model_type"].get<std::string>()
               : "";
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
    config["quantization_config"] = {{"quant_method", "compressed-tensors"},
                                     {"format", "pack-quantized"},
                                     {"quantization_status", "compressed"},
                                     {"config_groups", {{"group_0", group}}},
                                     {"ignore", ignored(plan)}};
    return config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace nw

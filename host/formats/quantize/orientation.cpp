// SPDX-License-Identifier: MIT
#include "formats/quantize/orientation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

namespace nw {

namespace {

using Json = nlohmann::json;
using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 4> conv1d_types = {"gpt2", "openai-gpt", "imagegpt",
                                                          "decision_transformer"};
constexpr std::array<std::string_view, 4> conv1d_modules = {"c_attn", "q_attn", "c_proj", "c_fc"};
constexpr std::array<std::string_view, 7> transposed_experts = {
    "gpt_oss", "llama4", "llama4_text", "qwen3_vl_moe", "qwen3_vl_moe_text", "aria", "aria_text"};
constexpr std::array<std::string_view, 4> plain_experts = {"granitemoe", "granitemoeshared",
                                                           "granitemoehybrid", "jetmoe"};
// Parts of a module's name. Writers are tried first, since "output_linear" contains "put".
constexpr std::array<std::string_view, 6> writes = {"down", "w2", "fc2", "output", "wo", "c_proj"};
constexpr std::array<std::string_view, 7> reads = {"up", "gate", "w1", "w3", "fc1", "input", "wi"};

// Letters and digits in lower case: gptoss of the type gpt_oss, and how the class
// GptOssForCausalLM begins.
std::string letters(std::string_view text) {
    std::string out;
    for (unsigned char c : text)
        if (std::isalnum(c))
            out += static_cast<char>(std::tolower(c));
    return out;
}

// Whether a type is one of these, or a class of models begins with its name.
bool any_type(const ModelShape &model, Words types) {
    return std::ranges::any_of(model.types, [&](const std::string &said) {
        const std::string name = letters(said);
        const bool of_class = name.ends_with("model") || name.find("for") != name.npos;
        return std::ranges::any_of(types, [&](std::string_view type) {
            return of_class ? name.starts_with(letters(type)) : name == letters(type);
        });
    });
}

bool any_word(std::string_view name, Words words) {
    return std::ranges::any_of(words, [&](auto word) { return name.find(word) != name.npos; });
}

// The last component of a name, without .weight.
std::string_view module_name(std::string_view name) {
    constexpr std::string_view end = ".weight";
    if (name.ends_with(end))
        name.remove_suffix(end.size());
    return name.substr(name.rfind('.') + 1);
}

Orientation of_experts(std::string_view module, std::span<const u64> shape,
                       const ModelShape &model) {
    const u64 a = shape[1], b = shape[2];
    Orientation by_size = Orientation::unknown, by_type = Orientation::unknown;
    const bool writer = any_word(module, writes), reader = !writer && any_word(module, reads);
    if (model.hidden.size() == 1 && a != b && (writer || reader)) {
        const u64 hidden = *model.hidden.begin();
        if (a == hidden)
            by_size = writer ? Orientation::rows_first : Orientation::columns_first;
        if (b == hidden)
            by_size = writer ? Orientation::columns_first : Orientation::rows_first;
    }
    if (any_type(model, transposed_experts))
        by_type = Orientation::columns_first;
    if (any_type(model, plain_experts))
        by_type = Orientation::rows_first;
    if (by_size == Orientation::unknown)
        return by_type;
    return by_type == Orientation::unknown || by_type == by_size ? by_size : Orientation::unknown;
}

void read_shape(ModelShape &out, const Json &config) {
    if (const auto type = config.find("model_type"); type != config.end() && type->is_string())
        out.types.insert(type->get<std::string>());
    if (const auto classes = config.find("architectures");
        classes != config.end() && classes->is_array())
        for (const Json &name : *classes)
            if (name.is_string())
                out.types.insert(name.get<std::string>());
    for (const char *key : {"hidden_size", "n_embd", "d_model"})
        if (const auto size = config.find(key); size != config.end() && size->is_number_unsigned())
            out.hidden.insert(size->get<u64>());
    for (const auto &[key, part] : config.items())
        if (part.is_object() && key.find("vis") == key.npos && key.find("audio") == key.npos &&
            key.find("image") == key.npos)
            read_shape(out, part);
}

} // namespace

ModelShape model_shape(const Json &config) {
    ModelShape out;
    if (config.is_object())
        read_shape(out, config);
    return out;
}

Orientation orientation_of(const std::string &name, std::span<const u64> shape,
                           const ModelShape &model) {
    const std::string_view module = module_name(name);
    if (shape.size() == 3)
        return of_experts(module, shape, model);
    if (std::ranges::find(conv1d_modules, module) == conv1d_modules.end())
        return Orientation::rows_first;
    if (any_type(model, conv1d_types))
        return Orientation::columns_first;
    return model.types.empty() ? Orientation::unknown : Orientation::rows_first;
}

} // namespace nw

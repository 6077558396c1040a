// SPDX-License-Identifier: MIT
#include "nw/bench_model/windows.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "formats/claims/python_json.h"

namespace nw::cli {

using nlohmann::json;

namespace {

// swa_period and set_swa_pattern() in llama.cpp's src/models, load_arch_hparams() of each file, in
// November 2026. Only where files have attention.sliding_window: Llama 4's chunks of 8192 keys are
// in none.
struct Known {
    std::string_view architecture;
    WindowPattern pattern;
    u64 layers = 0; // of the only model that has a window; 0: all
};
constexpr bool full_first = true;
// clang-format off
constexpr Known known[] = {
    {"afmoe",           {4}},             // afmoe.cpp
    {"cohere2",         {4}},             // cohere2.cpp
    {"cohere2moe",      {4, full_first}}, // cohere2moe.cpp
    {"exaone4",         {4}, 64},         // exaone4.cpp: the 32B alone
    {"gemma-embedding", {6}},             // gemma-embedding.cpp
    {"gemma2",          {2}},             // gemma2.cpp
    {"gemma3",          {6}},             // gemma3.cpp
    {"gemma3n",         {5}},             // gemma3n.cpp
    {"gpt-oss",         {2}},             // openai-moe.cpp
    {"modern-bert",     {3, full_first}}, // modern-bert.cpp
    {"olmo2",           {4}},             // olmo2.cpp
    {"plamo3",          {8}},             // plamo3.cpp
    {"smallthinker",    {4, full_first}}, // smallthinker.cpp
};
// clang-format on

constexpr std::string_view config_types = "layer_types", config_pattern = "sliding_window_pattern",
                           config_window = "sliding_window";

// The object that describes the layers: config.json itself, or text_config and the like in it.
const json *describing(const json &config) {
    if (!config.is_object())
        return nullptr;
    if (config.contains(config_types) || config.contains(config_pattern))
        return &config;
    for (const auto &[key, value] : config.items())
        if (key.ends_with("_config"))
            if (const json *found = describing(value))
                return found;
    return nullptr;
}

std::vector<bool> by_types(const json &types) {
    std::vector<bool> out;
    for (const json &type : types)
        out.push_back(type == "sliding_attention");
    return out;
}

} // namespace

std::optional<WindowPattern> known_pattern(std::string_view architecture, u64 layers) {
    const auto found = std::ranges::find(known, architecture, &Known::architecture);
    if (found == std::end(known) || (found->layers && found->layers != layers))
        return {};
    return found->pattern;
}

std::vector<bool> windows_of_config(const std::filesystem::path &gguf, u64 layers, u64 window,
                                    std::string &note) {
    const std::filesystem::path path = gguf.parent_path() / "config.json";
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none))
        return {};
    const auto refuse = [&](const std::string &why) {
        note = fmt::format("{}: not read: {}", path.string(), why);
        return std::vector<bool>();
    };
    json config;
    try {
        config = python_json_file(path);
    } catch (const Error &error) {
        return refuse(error.what());
    }
    const json *of = describing(config);
    if (!of)
        return {};
    if (const auto own = of->find(config_window);
        own != of->end() && own->is_number_unsigned() && own->get<u64>() != window)
        return refuse(fmt::format("its {} is {}, the GGUF file's {}: of another model",
                                  config_window, own->get<u64>(), window));
    const auto types = of->find(config_types), pattern = of->find(config_pattern);
    if (types != of->end() && types->is_array()) {
        if (types->size() != layers)
            return refuse(fmt::format("its {} are of {} layers, the GGUF file has {}: of another "
                                      "model",
                                      config_types, types->size(), layers));
        note = fmt::format("which layers have the window: {} of {}", config_types, path.string());
        return by_types(*types);
    }
    if (pattern == of->end() || !pattern->is_number_unsigned())
        return {};
    const WindowPattern each{pattern->get<u64>()};
    std::vector<bool> out;
    for (u64 layer = 0; layer < layers; ++layer)
        out.push_back(each.has_window(layer));
    note = fmt::format("which layers have the window: {} of {}", config_pattern, path.string());
    return out;
}

} // namespace nw::cli

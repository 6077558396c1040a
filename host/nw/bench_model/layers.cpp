// SPDX-License-Identifier: MIT
#include "nw/bench_model/layers.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

#include "formats/gguf/gguf_values.h"
#include "nw/bench_model/windows.h"

namespace nw::cli {

namespace {

u64 number_of(const GgufValue &value) {
    return value.type == GgufType::boolean ? u64{truth(value)} : unsigned_number(value).value_or(0);
}

constexpr std::string_view window_key = "attention.sliding_window",
                           pattern_key = "attention.sliding_window_pattern";

bool fits_u32(u64 n) { return n <= std::numeric_limits<u32>::max(); }

} // namespace

ModelLayers::ModelLayers(const GgufModel &model) : model_(model) {
    for (const GgufTensor *t : model.tensors())
        if (const auto layer = layer_of(t->name))
            count_ = std::max(count_, *layer + 1);
    draft_ = std::min(number("nextn_predict_layers").value_or(0), count_);
    const u64 window = number(window_key).value_or(0);
    if (const GgufValue *own = window_pattern(); window && !(own && own->type == GgufType::array))
        config_windows_ = windows_of_config(model.path(), count_ - draft_, window, config_note_);
}

std::optional<u64> ModelLayers::number(std::string_view key, std::optional<u64> layer) const {
    const GgufValue *value = model_.first().find(fmt::format("{}.{}", model_.architecture(), key));
    if (!value)
        return {};
    if (value->type != GgufType::array)
        return unsigned_number(*value);
    const std::vector<GgufValue> all = elements(*value, value->count);
    if (layer && *layer < all.size())
        return number_of(all[*layer]);
    std::optional<u64> out;
    if (!layer)
        for (const GgufValue &one : all)
            out = std::max(out.value_or(0), number_of(one));
    return out;
}

std::optional<u64> ModelLayers::layer_of(std::string_view tensor) {
    constexpr std::string_view begin = "blk.";
    u64 layer = 0;
    if (!tensor.starts_with(begin))
        return {};
    const char *const digits = tensor.data() + begin.size(), *last = tensor.data() + tensor.size();
    const auto [end, error] = std::from_chars(digits, last, layer);
    constexpr u64 most = 1 << 20; // a longer number is a name
    return error == std::errc{} && end != last && *end == '.' && layer < most ? std::optional(layer)
                                                                              : std::nullopt;
}

bool ModelLayers::is_draft(std::string_view tensor) const {
    const auto layer = layer_of(tensor);
    return layer && *layer >= count_ - draft_;
}

// By its tensors: layers of linear attention have none of these, or ssm_*; layers that share an
// earlier layer's keys have only q; layers of latent attention have attn_kv_a_mqa.
bool ModelLayers::has_attention(u64 layer) const {
    const auto has = [&](std::string_view name) {
        return model_.find(fmt::format("blk.{}.{}.weight", layer, name)) != nullptr;
    };
    if (has("attn_k"))
        return true;
    const bool recurrent = has("ssm_out") || has("ssm_in") || has("ssm_a");
    return (has("attn_qkv") && !recurrent) || (has("attn_q") && !has("attn_kv_a_mqa"));
}

const GgufValue *ModelLayers::window_pattern() const {
    return model_.first().find(fmt::format("{}.{}", model_.architecture(), pattern_key));
}

// Layer by layer as the file says it, else config.json beside it; else by the period that the file
// or llama.cpp has.
u64 ModelLayers::window(u64 layer) const {
    const u64 window = number(window_key, layer).value_or(0);
    if (window == 0)
        return 0;
    const GgufValue *own = window_pattern();
    if (own && own->type == GgufType::array)
        return number(pattern_key, layer).value_or(0) ? window : 0;
    if (layer < config_windows_.size())
        return config_windows_[layer] ? window : 0;
    std::optional<WindowPattern> pattern = known_pattern(model_.architecture(), count_ - draft_);
    if (own)
        pattern = WindowPattern{number(pattern_key).value_or(0), pattern && pattern->full_first};
    return pattern && pattern->has_window(layer) ? window : 0;
}

std::optional<ModelAttention> ModelLayers::attention_of(u64 layer, std::string &why) const {
    const auto h = number("attention.head_count", layer), width = number("embedding_length");
    const u64 hk = number("attention.head_count_kv", layer).value_or(h.value_or(0));
    const u64 sees = window(layer);
    auto d = number("attention.key_length", layer);
    if (const auto own = number("attention.key_length_swa", layer); own && sees)
        d = own;
    if (!d)
        d = h && *h && width ? *width / *h : 0;
    if (!h || !*h || !hk || *h % hk || !fits_u32(*h) || !fits_u32(*d))
        why = fmt::format("{0}.attention.head_count {1}, head_count_kv {2}: not both known, and "
                          "one a multiple of the other",
                          model_.architecture(), h.value_or(0), hk);
    else if (*d != 64 && *d != 128 && *d != 256)
        why = fmt::format("heads of {}: kernels have 64, 128 and 256", *d);
    else
        return ModelAttention{
            {"", 1, static_cast<u32>(*h), static_cast<u32>(hk), static_cast<u32>(*d)},
            static_cast<u32>(std::min<u64>(sees, std::numeric_limits<u32>::max()))};
    return {};
}

std::vector<ModelAttention> ModelLayers::attention(std::vector<std::string> &why) const {
    std::vector<ModelAttention> out;
    const auto say = [&](std::string text) {
        if (std::ranges::find(why, text) == why.end())
            why.push_back(std::move(text));
    };
    if (!config_note_.empty())
        say(config_note_);
    bool any = false;
    for (u64 layer = 0; layer < count_ - draft_; ++layer) {
        // An array says 0 for a layer without attention.
        if (!has_attention(layer) || number("attention.head_count_kv", layer) == u64{0})
            continue;
        any = true;
        std::string reason;
        const auto one = attention_of(layer, reason);
        if (!one) {
            say("attention isn't counted: " + reason);
            continue;
        }
        const auto same = std::ranges::find_if(out, [&](const ModelAttention &a) {
            return a.of.h == one->of.h && a.of.hk == one->of.hk && a.of.d == one->of.d &&
                   a.window == one->window;
        });
        if (same == out.end())
            out.push_back(*one);
        else
            ++same->of.layers;
    }
    if (!any)
        say("attention isn't counted: no layer has a tensor attn_k, attn_qkv or attn_q");
    const u64 window = number(window_key).value_or(0);
    if (window && config_windows_.empty() &&
        std::ranges::none_of(out, [](const ModelAttention &a) { return a.window > 0; }))
        say(fmt::format(
            "{} {}: neither sliding_window_pattern nor layer_types of a config.json beside "
            "the file says which layers have it: all are counted with all keys",
            window_key, window));
    return out;
}

} // namespace nw::cli

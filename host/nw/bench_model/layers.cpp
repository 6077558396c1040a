// SPDX-License-Identifier: MIT
#include "nw/bench_model/layers.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

#include "formats/gguf_values.h"

namespace nw::cli {

namespace {

// Every how many-th layer sees all keys where files have a window and no pattern: llama.cpp has
// these numbers in its code.
struct Period {
    std::string_view architecture;
    u64 layers;
};
constexpr Period periods[] = {{"cohere2", 4}, {"exaone4", 4}, {"gemma-embedding", 6}, {"gemma2", 2},
                              {"gemma3", 6},  {"gemma3n", 5}, {"gpt-oss", 2},         {"olmo2", 4}};

u64 number_of(const GgufValue &value) {
    return value.type == GgufType::boolean ? u64{truth(value)} : unsigned_number(value).value_or(0);
}

bool fits_u32(u64 n) { return n <= std::numeric_limits<u32>::max(); }

} // namespace

ModelLayers::ModelLayers(const GgufModel &model) : model_(model) {
    for (const GgufTensor *t : model.tensors())
        if (const auto layer = layer_of(t->name))
            count_ = std::max(count_, *layer + 1);
    draft_ = std::min(number("nextn_predict_layers").value_or(0), count_);
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

// By its tensors: layers of linear attention have none of these, or ssm_*; those that share an
// earlier layer's keys have q alone; those of latent attention have attn_kv_a_mqa.
bool ModelLayers::has_attention(u64 layer) const {
    const auto has = [&](std::string_view name) {
        return model_.find(fmt::format("blk.{}.{}.weight", layer, name)) != nullptr;
    };
    if (has("attn_k"))
        return true;
    const bool recurrent = has("ssm_out") || has("ssm_in") || has("ssm_a");
    return (has("attn_qkv") && !recurrent) || (has("attn_q") && !has("attn_kv_a_mqa"));
}

u64 ModelLayers::window(u64 layer) const {
    const u64 window = number("attention.sliding_window", layer).value_or(0);
    if (window == 0)
        return 0;
    const std::string key = "attention.sliding_window_pattern";
    const GgufValue *pattern =
        model_.first().find(fmt::format("{}.{}", model_.architecture(), key));
    if (pattern && pattern->type == GgufType::array)
        return number(key, layer).value_or(0) ? window : 0;
    const auto known = std::ranges::find(periods, model_.architecture(), &Period::architecture);
    const std::optional<u64> period =
        pattern ? number(key)
                : (known != std::end(periods) ? std::optional(known->layers) : std::nullopt);
    if (!period)
        return 0;
    return *period == 0 || layer % *period < *period - 1 ? window : 0;
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
    const u64 window = number("attention.sliding_window").value_or(0);
    if (window && std::ranges::none_of(out, [](const ModelAttention &a) { return a.window > 0; }))
        say(fmt::format("attention.sliding_window {}: no sliding_window_pattern says which layers "
                        "have it: all are counted with all keys",
                        window));
    return out;
}

} // namespace nw::cli

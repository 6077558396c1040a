// SPDX-License-Identifier: MIT
#include "formats/layers/source_layers.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "formats/claims/foreign_layouts.h"
#include "formats/layers/source_problem.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

// Tensors for engines that quantize activations or caches; products with 16-bit activations are
// correct without them. Exceptions: pre_quant_scale [K], by which activations are multiplied, and
// e_score_correction_bias, which belongs to a router's result.
constexpr std::array<std::string_view, 13> roles = {"e_score_correction_bias",
                                                    "input_scale",
                                                    "input_global_scale",
                                                    "input_zero_point",
                                                    "output_scale",
                                                    "output_zero_point",
                                                    "pre_quant_scale",
                                                    "k_scale",
                                                    "v_scale",
                                                    "q_scale",
                                                    "kv_scale",
                                                    "k_zero_point",
                                                    "v_zero_point"};

// The part of a name before its last dot, with it.
std::string module_prefix(const std::string &name) { return name.substr(0, name.rfind('.') + 1); }

// Layers by the beginning of their tensors' names, which ends in "." or "_".
class Prefixes {
public:
    explicit Prefixes(const SourceLayers &layers) {
        for (const SourceLinear &l : layers.linears)
            add(l.prefix, l.name);
        for (const SourceFp4 &s : layers.fp4) {
            add(s.prefix, s.name);
            add(s.name + ".", s.name);
        }
    }
    // The longest prefix of a name, with its layer.
    const std::pair<const std::string, std::string> *find(const std::string &name) const {
        for (size_t i = name.size(); i-- > 0;)
            if (name[i] == '.' || name[i] == '_')
                if (const auto found = layers_.find(name.substr(0, i + 1)); found != layers_.end())
                    return &*found;
        return nullptr;
    }

private:
    void add(const std::string &prefix, const std::string &layer) {
        constexpr std::string_view wrapped = ".base_layer."; // beside it are peft's matrices
        layers_.try_emplace(prefix, layer);
        if (prefix.ends_with(wrapped))
            layers_.try_emplace(prefix.substr(0, prefix.size() - wrapped.size() + 1), layer);
    }
    std::unordered_map<std::string, std::string> layers_;
};

bool has_word(const std::string &name, std::initializer_list<const char *> words) {
    return std::ranges::any_of(words,
                               [&](const char *word) { return name.find(word) != name.npos; });
}

bool is_beside_codes(const std::string &name) {
    return has_word(name,
                    {"scale", "zero", "absmax", "SCB", "codebook", "centroid", "lookup", "table"});
}

std::string and_config(const ModelClaims &claims) {
    return claims.made_by().empty() ? "" : fmt::format(" ({})", claims.made_by());
}

// AWQ's scales of an activation function in a module of its own: [K], which divide its result.
bool scales_activation(const Checkpoint &checkpoint, const Tensor &t) {
    const std::string module = module_prefix(t.name);
    return t.name.substr(module.size()) == "scales" && t.shape.size() == 1 &&
           !checkpoint.find(module + "qweight") && !checkpoint.find(module + "weight");
}

void close_layers(SourceLayers &layers, const Checkpoint &checkpoint, const ModelClaims &claims,
                  const SourceOptions &o) {
    const Prefixes prefixes(layers);
    const QuantizedTensors quantized(checkpoint);
    std::vector<const Tensor *> others;
    std::map<std::string, std::pair<u64, std::string>> copied; // by dtype: how many, the first
    for (const Tensor *t : layers.others) {
        if (const auto layer = prefixes.find(t->name)) {
            const std::string role = t->name.substr(layer->first.size());
            if (std::ranges::find(roles, role) != roles.end())
                layers.carried.push_back({layer->second, role, t});
            else
                layers.problems.push_back(fmt::format(
                    "{} ({} {}): is a part of the layer {} that is not read{}: the layer may be "
                    "another without it. Remove the tensor if the product does not depend on it",
                    in_quotes(t->name), t->dtype, shape_text(t->shape), in_quotes(layer->second),
                    and_config(claims)));
            continue;
        }
        if (scales_activation(checkpoint, *t)) {
            layers.carried.push_back({"", activation_scales, t});
            continue;
        }
        others.push_back(t);
        const bool told = checkpoint.find(t->name + ".quant_map"); // bitsandbytes: by find_linears
        if (told || !quantized.contains(*t))
            continue;
        const std::string_view layout = foreign_layout(checkpoint, *t);
        if (o.copies_others) {
            auto &row = copied[layout.empty() ? t->dtype : std::string(layout)];
            if (row.first++ == 0)
                row.second = t->name;
            continue;
        }
        layers.problems.push_back(fmt::format(
            "{} ({} {}): is of quantized weights {}{}, which nw pack does not read; --all copies "
            "all such tensors as they are, for an engine that does",
            in_quotes(t->name), t->dtype, shape_text(t->shape),
            layout.empty() ? "with scales beside them" : fmt::format("of {}", layout),
            and_config(claims)));
    }
    for (const auto &[kind, row] : copied)
        layers.notes.push_back(fmt::format("{} tensors of quantized weights ({}), as {}, are not "
                                           "read and are copied as they are",
                                           row.first, kind, in_quotes(row.second)));
    layers.others = std::move(others);
}

// Tensors without which products would be wrong.
void note_smoothing(SourceLayers &layers) {
    for (const auto &[role, what] :
         {std::pair{"pre_quant_scale", "multiply activations by it before the product"},
          std::pair{activation_scales, "divide the activation function's result by it"}}) {
        const auto smooth = [&](const CarriedTensor &c) { return c.role == role; };
        if (const auto count = std::ranges::count_if(layers.carried, smooth))
            layers.notes.push_back(fmt::format(
                "{} tensors [K] smooth activations, as {}: {}; they are copied, and the index "
                "lists them",
                count, in_quotes(std::ranges::find_if(layers.carried, smooth)->tensor->name),
                what));
    }
}

} // namespace

QuantizedTensors::QuantizedTensors(const Checkpoint &checkpoint) : checkpoint_(checkpoint) {
    for (const Tensor *t : checkpoint.tensors()) {
        const std::string module = module_prefix(t->name), own = t->name.substr(module.size());
        if (is_beside_codes(own))
            beside_[module].push_back(own);
    }
}

bool QuantizedTensors::contains(const Tensor &t) const {
    constexpr std::array<std::string_view, 9> computed = {"F16",  "BF16", "F32", "F64", "C64",
                                                          "BOOL", "I64",  "U64", "I16"};
    if (!foreign_layout(checkpoint_, t).empty())
        return true;
    const std::string module = module_prefix(t.name), own = t.name.substr(module.size());
    if (t.shape.empty() || is_beside_codes(own) || has_word(own, {"index", "ids"}) ||
        std::ranges::find(computed, t.dtype) != computed.end())
        return false;
    if (beside_.contains(t.name + ".")) // NAME.weight.absmax
        return true;
    const auto found = beside_.find(module);
    if (found == beside_.end())
        return false;
    // NAME.weight with NAME.weight_scale, NAME.qweight with NAME.scales; NAME_blocks with
    // NAME_scales, NAME with NAME_weight_scale.
    if (has_word(own, {"weight", "code", "W_q", "data", "packed", "indices"}))
        return true;
    const std::string stem = own.substr(0, own.rfind('_'));
    return std::ranges::any_of(found->second,
                               [&](const std::string &name) { return name.starts_with(stem); });
}

SourceLayers read_layers(const Checkpoint &checkpoint, const SourceOptions &o) {
    const ModelClaims claims(checkpoint, o.gptq_v2);
    SourceLinears linears = find_linears(checkpoint, claims);
    SourceFp4s fp4 = take_fp4(linears.others, claims);
    SourceLayers out{.linears = std::move(linears.linears),
                     .fp4 = std::move(fp4.layers),
                     .others = std::move(linears.others),
                     .problems = claims.problems(),
                     .notes = claims.notes()};
    for (const auto *more : {&linears.problems, &fp4.problems})
        out.problems.insert(out.problems.end(), more->begin(), more->end());
    close_layers(out, checkpoint, claims, o);
    note_smoothing(out);
    return out;
}

} // namespace nw

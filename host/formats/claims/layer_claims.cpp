// SPDX-License-Identifier: MIT
#include "formats/claims/layer_claims.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

#include "base/error.h"
#include "base/lower_case.h"
#include "formats/claims/foreign_layouts.h"
#include "formats/claims/known_keys.h"
#include "formats/claims/online_changes.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

using Json = nlohmann::json;

Claim<Json> part_of(const Claim<Json> &object, const char *key) {
    const auto found = object.value.find(key);
    const bool there = found != object.value.end() && found->is_object();
    return {there ? *found : Json::object(), config_place(object.where, key)};
}

// compressed-tensors' arguments of a group of layers.
Claims claims_of_weights(const Claim<Json> &weights) {
    Claims c;
    c.bits = integer_of(weights, "num_bits");
    c.group = integer_of(weights, "group_size");
    if (const auto strategy = text_of(weights, "strategy");
        strategy && lower_case(strategy->value) == "channel")
        c.group = {-1, strategy->where};
    c.symmetric = boolean_of(weights, "symmetric");
    if (const auto type = text_of(weights, "type"))
        c.e2m1 = {lower_case(type->value) == "float", type->where};
    // "weight" and "static" reorder nothing in the file.
    if (const auto order = weights.value.find("actorder"); order != weights.value.end()) {
        const std::string text = order->is_string() ? lower_case(order->get<std::string>()) : "";
        c.act_order = {order->is_boolean() ? order->get<bool>()
                                           : text == "group" || text == "dynamic",
                       config_place(weights.where, "actorder")};
    }
    return c;
}

// GPTQModel's, AutoRound's, ModelOpt's and MLX's words for one layer.
Claims claims_of_layer(const Claim<Json> &layer) {
    Claims c;
    c.bits = integer_of(layer, "bits");
    c.group = integer_of(layer, "group_size");
    c.symmetric = boolean_of(layer, "sym");
    c.act_order = boolean_of(layer, "desc_act");
    if (const auto algo = text_of(layer, "quant_algo")) {
        const std::string text = lower_case(algo->value);
        c.bits = {text.find("fp4") != text.npos || text.starts_with("w4") ? 4 : 8, algo->where};
        c.e2m1 = {text.find("fp4") != text.npos, algo->where};
    }
    return c;
}

// Quark's, {"weight": {"dtype": "fp4", "group_size": 32}}; of several steps the last.
Claims claims_of_quark(const Claim<Json> &layer) {
    Claims c;
    const auto found = layer.value.find("weight");
    if (found == layer.value.end())
        return c;
    const Json &last = found->is_array() && !found->empty() ? found->back() : *found;
    if (!last.is_object())
        return c;
    const Claim<Json> weight{last, config_place(layer.where, "weight")};
    c.group = integer_of(weight, "group_size");
    if (const auto dtype = text_of(weight, "dtype")) {
        const std::string text = lower_case(dtype->value);
        const size_t digit = text.find_first_of("0123456789");
        if (digit != text.npos)
            c.bits = {text[digit] == '1' ? 16 : text[digit] - '0', dtype->where};
        c.e2m1 = {text.starts_with("fp") || text.starts_with("mx"), dtype->where};
    }
    return c;
}

template <class T> void take(std::optional<Claim<T>> &to, const std::optional<Claim<T>> &from) {
    if (from)
        to = from;
}

void take_all(Claims &to, const Claims &from) {
    take(to.bits, from.bits);
    take(to.group, from.group);
    take(to.symmetric, from.symmetric);
    take(to.act_order, from.act_order);
    take(to.zeros_as_they_are, from.zeros_as_they_are);
    take(to.e2m1, from.e2m1);
}

template <class T> bool differ(const std::optional<Claim<T>> &a, const std::optional<Claim<T>> &b) {
    return a && b && a->value != b->value;
}

std::string module_path(const std::string &tensor) {
    const size_t dot = tensor.rfind('.');
    return dot == tensor.npos ? std::string() : tensor.substr(0, dot);
}

} // namespace

ModelClaims::ModelClaims(const Checkpoint &checkpoint, std::optional<bool> zeros)
    : checkpoint_(checkpoint), config_(checkpoint.quantization()) {
    read_method();
    if (!problems_.empty())
        return; // the rest is in words of another format
    read_zeros();
    if (zeros)
        all_.zeros_as_they_are = {*zeros, "--checkpoint-format"};
    read_all_layers();
    read_rules();
    problems_ = online_changes(config_);
    for (const auto &[key, value] : config_.unread())
        if (std::ranges::find(harmless_keys, key) == std::end(harmless_keys))
            notes_.push_back(fmt::format("{} is {}: not read here; it is taken to change nothing",
                                         value.where, shown(value.value)));
}

void ModelClaims::read_method() {
    const auto method = config_.text({"quant_method", "method"});
    const auto algo = config_.text({"quant_algo"});
    const auto version = config_.find({"version"}); // of AWQ's layout; of Quark's program
    const auto form = gptq_format(), layout = config_.text({"format"});
    if (method) {
        method_ = lower_case(method->value);
        made_by_ = fmt::format("{} is {}", method->where, in_quotes(method->value));
    }
    if (algo)
        made_by_ += fmt::format("{}{} is {}", made_by_.empty() ? "" : ", ", algo->where,
                                in_quotes(algo->value));
    const auto refuse = [&](const std::string &where, const std::string &value,
                            std::string_view name) {
        problems_.push_back(fmt::format("{} is {}: {}'s layout is not read; quantize the original "
                                        "model in a layout that is (`nw pack --help`)",
                                        where, value, name));
    };
    for (const auto &claim : {method, form, layout})
        if (const auto name = claim ? foreign_layout(lower_case(claim->value)) : ""; !name.empty())
            return refuse(claim->where, in_quotes(claim->value), name);
    if (version && version->value.is_string())
        if (const auto name = foreign_layout(lower_case(version->value.get<std::string>()));
            !name.empty())
            return refuse(version->where, shown(version->value), name);
    for (const char *key : {"is_marlin_format", "is_marlin", "is_bitblas_format"})
        if (const auto flag = config_.boolean({key}); flag && flag->value)
            return refuse(flag->where, "true",
                          std::string_view(key) == "is_bitblas_format" ? "BitBLAS" : "Marlin");
}

void ModelClaims::read_zeros() {
    const auto say = [&](bool as_they_are, const std::string &where) {
        const auto &said = all_.zeros_as_they_are;
        if (said && said->value != as_they_are)
            throw Error(fmt::format("{} and {} say different things of how zero points are stored: "
                                    "remove or correct the one that is wrong",
                                    said->where, where));
        all_.zeros_as_they_are = {as_they_are, where};
    };
    // gptq_p, of GPTQModel 7, has other words than v2 only where codes have 3, 5, 6 or 7 bits.
    if (const auto form = gptq_format()) {
        const std::string text = lower_case(form->value);
        if (text == "gptq" || text == "gptq_v1")
            say(false, form->where);
        if (text == "gptq_v2" || text == "gptq_p")
            say(true, form->where);
    }
    // AutoRound's layouts with the names of GPTQ's tensors; of old files the key is backend.
    const bool auto_round =
        method_.find("auto-round") != method_.npos || method_.find("auto_round") != method_.npos;
    const auto packing = config_.text({"packing_format"}), backend = config_.text({"backend"});
    if (const auto &claim = packing || !auto_round ? packing : backend) {
        const std::string text = lower_case(claim->value);
        const auto has = [&](const char *word) { return text.find(word) != text.npos; };
        if (has("gptqmodel") || (text == "auto_round" && packing))
            say(true, claim->where);
        else if (has("gptq") || has("_zp"))
            say(false, claim->where);
    }
    // Its export to AutoGPTQ's layout, which does not say it otherwise.
    const auto provider = config_.text({"provider"});
    if (method_ == "gptq" && provider && lower_case(provider->value) == "auto-round" &&
        !all_.zeros_as_they_are)
        say(false, provider->where);
}

// GPTQModel's later key has a name that compressed-tensors has for something else.
std::optional<Claim<std::string>> ModelClaims::gptq_format() const {
    if (config_.find({"config_groups"}))
        return config_.text({"checkpoint_format"});
    return config_.text({"checkpoint_format", "format"});
}

void ModelClaims::read_all_layers() {
    all_.act_order = config_.boolean({"desc_act"});
    all_.bits = config_.integer({"bits", "w_bit"});
    all_.group = config_.integer({"group_size", "q_group_size"});
    all_.symmetric = config_.boolean({"sym"});
    if (const auto zeros = config_.boolean({"zero_point"}); zeros && !all_.symmetric)
        all_.symmetric = {!zeros->value, zeros->where}; // AWQ's
    if (const auto type = config_.text({"data_type"}); type && type->value.find("fp") != 0)
        all_.e2m1 = {type->value.find("_fp") != type->value.npos, type->where}; // mx_fp, nv_fp
    if (const auto groups = config_.object({"config_groups"}))
        read_groups(*groups);
    if (method_ == "quark")
        read_quark();
}

void ModelClaims::read_groups(const Claim<Json> &groups) {
    for (const auto &[name, group] : groups.value.items()) {
        if (!group.is_object() || !group.contains("weights") || !group["weights"].is_object())
            continue;
        const Claim<Json> here{group, config_place(groups.where, name)};
        const Claims claims = claims_of_weights(part_of(here, "weights"));
        const auto layout = text_of(here, "format");
        if (const auto foreign = layout ? foreign_layout(lower_case(layout->value)) : "";
            !foreign.empty())
            problems_.push_back(fmt::format("{} is {}: {}'s layout is not read", layout->where,
                                            in_quotes(layout->value), foreign));
        const Json targets = group.value("targets", Json::array());
        if (!targets.is_array() || targets.empty())
            take_all(all_, claims);
        for (const Json &target : targets.is_array() ? targets : Json::array()) {
            if (!target.is_string())
                continue;
            const std::string text = target.get<std::string>();
            const std::string where = config_place(here.where, "targets");
            if (text.starts_with("re:")) {
                add_rule(LayerPattern::regex(text.substr(3), where), claims, where);
            } else {
                const bool of_class =
                    text.find('.') == text.npos && !text.empty() && std::isupper(text[0]);
                add_rule(LayerPattern::path(text), claims, where);
                rules_.back().of_class = of_class;
            }
        }
    }
}

void ModelClaims::read_quark() {
    if (const auto global = config_.object({"global_quant_config"}))
        take_all(all_, claims_of_quark(*global));
    if (const auto layers = config_.object({"layer_quant_config"}))
        for (const auto &[name, value] : layers->value.items())
            if (value.is_object()) {
                const std::string where = config_place(layers->where, name);
                add_rule(LayerPattern::glob(name), claims_of_quark({value, where}), where);
            }
}

void ModelClaims::read_rules() {
    // GPTQModel: "-:PATTERN" names layers that are not quantized; "+:PATTERN", or PATTERN, those
    // that differ.
    if (const auto dynamic = config_.object({"dynamic"}))
        for (const auto &[name, value] : dynamic->value.items())
            if (value.is_object() && !name.starts_with("-:")) {
                const std::string where = config_place(dynamic->where, name);
                const std::string text = name.starts_with("+:") ? name.substr(2) : name;
                add_rule(LayerPattern::regex(text, where), claims_of_layer({value, where}), where);
            }
    // AutoRound: names or regular expressions; 16 bits are not quantized.
    if (const auto extra = config_.object({"extra_config"}))
        for (const auto &[name, value] : extra->value.items())
            if (value.is_object()) {
                const std::string where = config_place(extra->where, name);
                const bool path = name.find_first_of("\\*+?[](){}|^$") == name.npos;
                add_rule(path ? LayerPattern::path(name)
                              : LayerPattern::regex(".*(?:" + name + ")", where),
                         claims_of_layer({value, where}), where);
            }
    if (const auto layers = config_.object({"quantized_layers"})) // ModelOpt's
        for (const auto &[name, value] : layers->value.items())
            if (value.is_object()) {
                const std::string where = config_place(layers->where, name);
                add_rule(LayerPattern::path(name), claims_of_layer({value, where}), where);
            }
    // MLX: names beside the other keys; false is not quantized.
    for (const auto &[name, value] : config_.unread()) {
        if (std::ranges::find(harmless_keys, name) != std::end(harmless_keys))
            continue;
        const bool layer = value.value.is_object() &&
                           (value.value.contains("bits") || value.value.contains("group_size"));
        const bool none = value.value.is_boolean() && name.find('.') != name.npos;
        if (layer || none)
            config_.ignore(name);
        if (layer)
            add_rule(LayerPattern::path(name), claims_of_layer(value), value.where);
    }
}

void ModelClaims::add_rule(LayerPattern pattern, Claims claims, std::string where) {
    (pattern.exact() ? exact_[pattern.text()] : patterns_).push_back(rules_.size());
    rules_.push_back({std::move(pattern), std::move(claims), std::move(where)});
}

Claims ModelClaims::of(const std::string &layer) const {
    Claims out = all_, of_rules;
    std::string first;
    const auto apply = [&](const Rule &rule) {
        rule.used = true;
        if (differ(of_rules.bits, rule.claims.bits) || differ(of_rules.group, rule.claims.group) ||
            differ(of_rules.symmetric, rule.claims.symmetric))
            throw Error(fmt::format("{} and {} both mean {} and differ: name it in one of them",
                                    first, rule.where, in_quotes(layer)));
        take_all(of_rules, rule.claims);
        first = rule.where;
    };
    // As their readers have it: a name, or that of a module around, else expressions, else a class
    // of modules. Layers are of class Linear, or of another that no tensor tells.
    for (std::string m = plain_path(layer); !m.empty() && first.empty(); m = module_path(m))
        if (const auto found = exact_.find(m); found != exact_.end())
            for (size_t i : found->second)
                apply(rules_[i]);
    if (first.empty())
        for (size_t i : patterns_)
            if (rules_[i].pattern.matches(layer))
                apply(rules_[i]);
    if (first.empty()) {
        const auto classes = std::ranges::count_if(rules_, &Rule::of_class);
        for (const Rule &rule : rules_)
            if (rule.of_class && (classes == 1 || rule.pattern.text() == "Linear"))
                apply(rule);
    }
    take_all(out, of_rules);
    return out;
}

bool ModelClaims::changes_something(const Claims &c) const {
    if (c.bits && c.bits->value >= 16)
        return false;
    return differ(c.bits, all_.bits) || differ(c.group, all_.group) ||
           differ(c.symmetric, all_.symmetric) || differ(c.act_order, all_.act_order) ||
           (!all_.bits && c.bits);
}

std::vector<std::string> ModelClaims::problems() const {
    std::vector<std::string> out = problems_;
    std::set<std::string> modules, plain;
    for (const Rule &rule : rules_) {
        if (rule.used || rule.of_class || !changes_something(rule.claims))
            continue;
        if (modules.empty())
            for (const std::string &name : checkpoint_.all_names())
                for (std::string m = module_path(name); !m.empty() && modules.insert(m).second;
                     m = module_path(m))
                    plain.insert(plain_path(m));
        const bool found = rule.pattern.exact()
                               ? plain.contains(rule.pattern.text())
                               : std::ranges::any_of(modules, [&](const std::string &m) {
                                     return rule.pattern.matches(m);
                                 });
        if (!found)
            out.push_back(fmt::format("{}: is of no layer of the checkpoint, and says other than "
                                      "the rest of the config: correct its name or remove it",
                                      rule.where));
    }
    return out;
}

} // namespace nw

// SPDX-License-Identifier: MIT
#include "formats/claims/quantization_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "base/lower_case.h"
#include "formats/claims/python_json.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

Json without_nulls(const Json &value) {
    if (!value.is_object())
        return value;
    Json out = Json::object();
    for (const auto &[key, part] : value.items())
        if (!part.is_null())
            out[key] = without_nulls(part);
    return out;
}

std::optional<i64> as_integer(const Json &v) {
    constexpr f64 most = 1e15;
    if (v.is_number_unsigned())
        return v.get<u64>() <= u64{1} << 62 ? std::optional(static_cast<i64>(v.get<u64>()))
                                            : std::nullopt;
    if (v.is_number_integer())
        return v.get<i64>();
    if (v.is_number_float() && std::fabs(v.get<f64>()) < most &&
        v.get<f64>() == std::floor(v.get<f64>()))
        return static_cast<i64>(v.get<f64>());
    return std::nullopt;
}

std::optional<bool> as_boolean(const Json &v) {
    if (v.is_boolean())
        return v.get<bool>();
    if (v.is_number_integer() && (v == 0 || v == 1))
        return v == 1;
    return std::nullopt;
}

std::optional<std::string> as_text(const Json &v) {
    return v.is_string() ? std::optional(v.get<std::string>()) : std::nullopt;
}

// Texts are the same in any case: "GEMM", "gemm".
bool same_value(const Json &a, const Json &b) {
    if (!a.is_string() || !b.is_string())
        return a == b;
    return lower_case(a.get<std::string>()) == lower_case(b.get<std::string>());
}

template <class T, class Convert>
std::optional<Claim<T>> converted(const std::optional<Claim<Json>> &claim, const Convert &convert,
                                  const char *kind) {
    if (!claim)
        return std::nullopt;
    const std::optional<T> value = convert(claim->value);
    if (!value)
        throw Error(
            fmt::format("{} is {}: must be {}, or null", claim->where, shown(claim->value), kind));
    return Claim<T>{*value, claim->where};
}

std::optional<Claim<Json>> member(const Json &object, const std::string &where, const char *key) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null())
        return std::nullopt;
    return Claim<Json>{*found, config_place(where, key)};
}

// Sources in an object of config.json and in those in it.
void add_nested(QuantizationConfig &config, const std::string &where, const Json &object) {
    for (const auto &[key, part] : object.items()) {
        const std::string path = config_place(where, key);
        const bool named = key == "quantization_config" || key == "compression_config";
        if (named && !part.is_null() && !part.is_object())
            throw Error(fmt::format("{}: is not an object, nor null", path));
        constexpr std::array alone = {"transform_config", "rotation_config", "rotation",
                                      "hadamard_config",  "hadamard",        "spinquant_config",
                                      "spinquant",        "quarot_config",   "quarot",
                                      "online_rotations", "sparsity_config"};
        if (std::ranges::find(alone, key) != alone.end())
            config.add(where, {{key, part}});
        if (!part.is_object())
            continue;
        // MLX's and ModelOpt's key is a word that others use for something else.
        const bool theirs =
            key == "quantization" && (part.contains("bits") || part.contains("group_size") ||
                                      part.contains("quant_algo") || part.contains("quant_method"));
        if (named || theirs)
            config.add(path, part);
        else
            add_nested(config, path, part);
    }
}

} // namespace

std::string config_place(const std::string &object, const std::string &key) {
    const bool plain = std::ranges::all_of(
        key, [](unsigned char c) { return c == '_' || c == '-' || std::isalnum(c); });
    return object + (object.ends_with(':') ? " " : ".") + (plain ? key : in_quotes(key));
}

std::string shown(const Json &value) {
    constexpr size_t most = 100;
    const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() > most ? text.substr(0, most) + "..." : text;
}

QuantizationConfig::QuantizationConfig(const fs::path &folder) {
    const auto read = [&](const char *name) -> std::optional<Json> {
        std::error_code none;
        if (!fs::exists(folder / name, none))
            return std::nullopt;
        Json all = python_json_file(folder / name);
        if (!all.is_object())
            throw Error(fmt::format("{}: is not an object", (folder / name).string()));
        return all;
    };
    const auto place = [&](const char *name) { return (folder / name).string() + ":"; };
    if (auto config = read("config.json")) {
        model_ = std::move(*config);
        add_nested(*this, place("config.json"), model_);
    }
    for (const char *name :
         {"quantize_config.json", "quant_config.json", "quantization_config.json"})
        if (const auto whole = read(name))
            add(place(name), *whole);
    if (const auto theirs = read("hf_quant_config.json")) // ModelOpt's
        add_nested(*this, place("hf_quant_config.json"), *theirs);
}

void QuantizationConfig::add(std::string where, const Json &object) {
    sources_.push_back({std::move(where), without_nulls(object)});
}

std::optional<Claim<Json>>
QuantizationConfig::find(std::initializer_list<const char *> names) const {
    std::optional<Claim<Json>> out;
    for (const char *name : names) {
        read_.insert(name);
        for (const Source &s : sources_) {
            const auto found = member(s.object, s.where, name);
            if (!found)
                continue;
            if (out && !same_value(out->value, found->value))
                throw Error(fmt::format("{} is {}, but {} is {}: they must agree; remove or "
                                        "correct the one that is wrong",
                                        out->where, shown(out->value), found->where,
                                        shown(found->value)));
            if (!out)
                out = found;
        }
    }
    return out;
}

std::optional<Claim<i64>>
QuantizationConfig::integer(std::initializer_list<const char *> names) const {
    return converted<i64>(find(names), as_integer, "a whole number");
}
std::optional<Claim<bool>>
QuantizationConfig::boolean(std::initializer_list<const char *> names) const {
    return converted<bool>(find(names), as_boolean, "true or false");
}
std::optional<Claim<std::string>>
QuantizationConfig::text(std::initializer_list<const char *> names) const {
    return converted<std::string>(find(names), as_text, "a text");
}
std::optional<Claim<Json>>
QuantizationConfig::object(std::initializer_list<const char *> names) const {
    return converted<Json>(
        find(names), [](const Json &v) { return v.is_object() ? std::optional(v) : std::nullopt; },
        "an object");
}

std::vector<std::pair<std::string, Claim<Json>>> QuantizationConfig::unread() const {
    std::vector<std::pair<std::string, Claim<Json>>> out;
    for (const Source &s : sources_)
        for (const auto &[key, value] : s.object.items())
            if (!read_.contains(key))
                out.push_back({key, {value, config_place(s.where, key)}});
    return out;
}

std::optional<Claim<i64>> integer_of(const Claim<Json> &object, const char *key) {
    return converted<i64>(member(object.value, object.where, key), as_integer, "a whole number");
}
std::optional<Claim<bool>> boolean_of(const Claim<Json> &object, const char *key) {
    return converted<bool>(member(object.value, object.where, key), as_boolean, "true or false");
}
std::optional<Claim<std::string>> text_of(const Claim<Json> &object, const char *key) {
    return converted<std::string>(member(object.value, object.where, key), as_text, "a text");
}

} // namespace nw

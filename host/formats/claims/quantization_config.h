// SPDX-License-Identifier: MIT
// Claims of a checkpoint's config files about its quantization, with the place of each value.
#pragma once
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw {

// A value and its place: "FOLDER/config.json: text_config.quantization_config.bits".
template <class T> struct Claim {
    T value;
    std::string where;
};

// null is absence: members that are null are removed, at any depth.
//
//   config.json            quantization_config, compression_config and quantization, of the file's
//                          object and of any object in it: text_config.quantization_config; and
//                          transform_config and its like where they stand by themselves
//   quantize_config.json, quant_config.json, quantization_config.json    the whole file
//   hf_quant_config.json   quantization, and the file's producer
class QuantizationConfig {
public:
    struct Source {
        std::string where; // "FOLDER/config.json: quantization_config"
        nlohmann::json object;
    };

    QuantizationConfig() = default;
    // Throws Error: a file that is no JSON object, a quantization_config that is no object.
    explicit QuantizationConfig(const std::filesystem::path &folder);

    void add(std::string where, const nlohmann::json &object);
    const nlohmann::json &model() const { return model_; } // config.json, or null
    const std::vector<Source> &sources() const { return sources_; }
    bool empty() const { return sources_.empty(); }

    // The value of a key, which may have several names. Marks them as read. Throws Error: sources
    // have it and differ, or it is of another kind; the text names places and values.
    std::optional<Claim<nlohmann::json>> find(std::initializer_list<const char *> names) const;
    std::optional<Claim<i64>> integer(std::initializer_list<const char *> names) const;
    std::optional<Claim<bool>> boolean(std::initializer_list<const char *> names) const;
    std::optional<Claim<std::string>> text(std::initializer_list<const char *> names) const;
    std::optional<Claim<nlohmann::json>> object(std::initializer_list<const char *> names) const;

    // Marks a key as read, whatever its values are.
    void ignore(const std::string &key) const { read_.insert(key); }
    // Keys of the sources that nobody has read, each with its place and value.
    std::vector<std::pair<std::string, Claim<nlohmann::json>>> unread() const;

private:
    std::vector<Source> sources_;
    nlohmann::json model_;
    mutable std::set<std::string, std::less<>> read_; // keys
};

// The same of an object within the config, read by one name each. Throws Error: another kind.
std::optional<Claim<i64>> integer_of(const Claim<nlohmann::json> &object, const char *key);
std::optional<Claim<bool>> boolean_of(const Claim<nlohmann::json> &object, const char *key);
std::optional<Claim<std::string>> text_of(const Claim<nlohmann::json> &object, const char *key);

// The place of a key of an object: config_place("config.json:", "bits") is "config.json: bits".
std::string config_place(const std::string &object, const std::string &key);

// A value as a message shows it, cut where it is long.
std::string shown(const nlohmann::json &);

} // namespace nw

// SPDX-License-Identifier: MIT
#include "formats/claims/online_changes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "base/lower_case.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

using Json = nlohmann::json;

// Python's truth, and a text that says no.
bool is_set(const Json &v) {
    if (v.is_string()) {
        const std::string text = lower_case(v.get<std::string>());
        return !text.empty() && text != "none" && text != "null" && text != "false" &&
               text != "identity";
    }
    if (v.is_number())
        return v != 0;
    if (v.is_structured())
        return std::ranges::any_of(v, is_set);
    return v == true;
}

bool names_rotation(const std::string &key) {
    const std::string text = lower_case(key);
    return std::ranges::any_of(
        std::array{"rotat", "hadamard", "spinquant", "quarot", "flatquant", "ostquant"},
        [&](const char *word) { return text.find(word) != text.npos; });
}

class Walk {
public:
    void object(const std::string &where, const Json &o) {
        for (const auto &[key, value] : o.items())
            entry(config_place(where, key), key, value);
    }
    std::vector<std::string> problems;

private:
    void entry(const std::string &where, const std::string &key, const Json &value) {
        if (!is_set(value))
            return;
        if (key == "transform_config" || key == "transforms")
            return transforms(where, value);
        if (names_rotation(key))
            return rotation(where, value);
        const std::string text = lower_case(key);
        if (text == "adapter" || text.starts_with("lora") || text == "low_rank" || text == "eora")
            return refuse(where, value,
                          "adds low-rank matrices to the product, which kernels "
                          "have not: merge them into the weights before they are "
                          "quantized");
        if (text == "sparsity_config")
            return sparsity(where, value);
        if (value.is_object())
            return named(where, value);
        if (value.is_array())
            for (const Json &part : value)
                if (part.is_object())
                    named(where, part);
    }

    // An object that may say by a name what it is: Quark's algo_config.
    void named(const std::string &where, const Json &o) {
        for (const char *key : {"name", "algorithm", "method", "type"})
            if (const auto found = o.find(key);
                found != o.end() && found->is_string() && names_rotation(found->get<std::string>()))
                return rotation(where, o);
        object(where, o);
    }

    // R1 and R2 are in the weights. R3 is of attention, both sides of one product; R4, and whatever
    // is called online, are of a linear's input.
    void rotation(const std::string &where, const Json &value) {
        bool told = false, online = false;
        if (value.is_object())
            for (const auto &[key, part] : value.items()) {
                const std::string text = lower_case(key);
                told |= text == "r1" || text == "r2" || text == "r4";
                online |= is_set(part) && (text == "r4" || text.find("online") != text.npos ||
                                           text.find("prescale") != text.npos);
            }
        if (!told || online)
            refuse(where, value, "");
    }

    void transforms(const std::string &where, const Json &value) {
        const auto in_weights = [](const Json &apply) {
            const auto at = apply.is_object() ? apply.find("location") : apply.end();
            return apply.is_object() && at != apply.end() &&
                   (*at == "weight_input" || *at == "weight_output");
        };
        const auto groups = value.is_object() ? value.find("config_groups") : value.end();
        if (!value.is_object() || groups == value.end() || !groups->is_object())
            return refuse(where, value, "");
        for (const auto &[name, group] : groups->items()) {
            const auto applied = group.is_object() ? group.find("apply") : group.end();
            const bool offline = group.is_object() && applied != group.end() &&
                                 applied->is_array() && std::ranges::all_of(*applied, in_weights);
            if (!offline)
                refuse(config_place(where + ".config_groups", name), group, "");
        }
    }

    void sparsity(const std::string &where, const Json &value) {
        const auto format = value.is_object() ? value.find("format") : value.end();
        if (!value.is_object() || format == value.end() || *format != "dense")
            refuse(where, value,
                   "says that weights are stored without their zeros, a layout that "
                   "is not read: save them dense");
    }

    void refuse(const std::string &where, const Json &value, const std::string &why) {
        problems.push_back(fmt::format(
            "{} is {}: {}", where, shown(value),
            why.empty() ? "activations are to be transformed before the product (a rotation at run "
                          "time), which kernels don't do: without it results are wrong. Quantize "
                          "without transforms at run time"
                        : why));
    }
};

} // namespace

std::vector<std::string> online_changes(const QuantizationConfig &config) {
    Walk walk;
    for (const QuantizationConfig::Source &s : config.sources())
        walk.object(s.where, s.object);
    return std::move(walk.problems);
}

} // namespace nw
